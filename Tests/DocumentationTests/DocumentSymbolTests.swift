import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The code in the comments of the symbols that speak of documents.
@Suite(.mustEnd) @MainActor
struct DocumentSymbolTests {
  private struct Rename: UndoableUseCase {
    func main(_ title: String) async throws -> String { title }
    func undo(_ title: String, _ oldTitle: String) async throws {}

    func footprint(of title: String) -> HistoryFootprint? {
      .keys(title)
    }

    func footprint(of title: String, _ oldTitle: String) -> HistoryFootprint { .keys(title) }
  }

  private struct Note {
    let id = "note"
  }

  @Test func `each document has an undo of its own`() async {
    let (history, note) = (UseCaseHistory(), Note())
    let model = HistoryModel(history, in: .keys(note.id))
    await Rename().recorded(in: history).execute("note").ended()
    await Rename().recorded(in: history).execute("other").ended()
    history.undo(in: .keys(note.id))
    await history.idle()
    #expect(history.entries.map(\.isApplied) == [true, false])
    #expect(!model.canUndo && model.canRedo)
  }
}
