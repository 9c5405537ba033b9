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

  private struct Row: Identifiable {
    let id: Int
  }

  private struct Remove: UndoableUseCase {
    let note = "note"

    func main(_ row: Row.ID) async throws {}
    func undo(_ row: Row.ID, _: Void) async throws {}

    func footprint(of row: Row.ID) -> HistoryFootprint? {
      .keys(row).within(.keys(note))
    }
  }

  @Test(.holds("Rows of a document"))
  func `a row belongs to its note, and is in the way of nothing but itself`() async {
    let (row, note) = (1, "note")
    let footprint: HistoryFootprint =
      .keys(row).within(.keys(note))  // overlaps .keys(row) and .keys(note), and no other row
    #expect(Remove().footprint(of: row) == footprint)
    let history = UseCaseHistory()
    await history.execute(Remove(), 1).ended()
    await history.execute(Remove(), 2).ended()
    let first = history.entries[0].id
    #expect(history.blockers(of: first).isEmpty)
    #expect(history.state(in: .keys(note)).undoCount == 2)
    await history.execute(Rename(), note).ended()
    #expect(history.blockers(of: first) == [history.entries[2].id])
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
