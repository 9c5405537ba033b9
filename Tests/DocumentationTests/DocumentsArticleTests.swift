import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The code of “One history, many documents”, and of the symbols that it is about.
@Suite(.mustEnd)
@MainActor
struct DocumentsArticleTests {
  private let history = UseCaseHistory()
  private let notebook = Notebook()
  private var write: Write { Write(notebook: notebook) }

  @Test func `each note has its own undo`() async {
    await history.execute(write, Line(note: "shopping", text: "Milk")).ended()
    await history.execute(write, Line(note: "travel", text: "Lisbon")).ended()
    await history.undo(in: .keys("shopping")).ended()
    #expect(await notebook.notes == ["shopping": [], "travel": ["Lisbon"]])
    #expect(history.state(in: .keys("shopping")).redoTitle == "Milk")
    #expect(!history.state(in: .keys("shopping")).canUndo)
    await history.execute(write, Line(note: "travel", text: "Porto")).ended()
    await history.redo(in: .keys("shopping")).ended()
    #expect(await notebook.lines("shopping") == ["Milk"])
  }

  @Test func `an action over two notes is one entry, and may be blocked`() async {
    await history.execute(write, Line(note: "shopping", text: "Map")).ended()
    let move = Move(notebook: notebook)
    await history.execute(move, Transfer(from: "shopping", to: "travel")).ended()
    await history.execute(write, Line(note: "travel", text: "Lisbon")).ended()
    let list = List()
    await history.undo(in: .keys("shopping")).catch(HistoryError.self) { error in
      list.show(error)  // Undo 1 later change first.
    }
    .ended()
    #expect(list.shown == ["Undo 1 later change first."])
    await history.undo(in: .keys("travel")).ended()
    await history.undo(in: .keys("shopping")).ended()
    #expect(await notebook.notes == ["shopping": ["Map"], "travel": []])
  }

  @Test func `each editor has a model`() async {
    let note = (id: "shopping", text: "")
    let model = HistoryModel(history, in: .keys(note.id))
    await history.execute(write, Line(note: "shopping", text: "Milk")).ended()
    #expect(model.undoTitle == "Milk")
    await model.undo().ended()
    history.undo(in: .keys(note.id))
    await history.idle()
    #expect(await notebook.lines("shopping") == [])
  }

  @Test func `a drag is one entry`() async {
    let (move, point) = (Place(), 3)
    let drag = history.openGroup("Move")  // the pointer goes down
    drag.execute(move, point)  // it moves
    drag.close()  // it goes up: one entry
    await history.idle()
    #expect(history.entries.map(\.title) == ["Move"])
  }

  @Test func `the footprint of a request is that of its keys`() {
    struct Add: UndoableUseCase {
      func main(_ title: String) async throws {}
      func undo(_ title: String, _: Void) async throws {}

      func footprint(of title: String) -> HistoryFootprint? {
        .keys(title)
      }
    }
    #expect(Add().footprint(of: "Dune") == .keys("Dune"))
    #expect(Add().footprint(of: "Dune", ()) == .keys("Dune"))
  }
}

private struct Line: Sendable {
  let note: String
  let text: String
}

private struct Transfer: Sendable {
  let from: String
  let to: String
}

private actor Notebook {
  private(set) var notes: [String: [String]] = [:]
  func lines(_ note: String) -> [String] { notes[note] ?? [] }
  func append(_ line: Line) { notes[line.note, default: []].append(line.text) }
  func removeLast(of note: String) -> String? { notes[note]?.popLast() }
}

private struct Write: UndoableUseCase {
  let notebook: Notebook

  func main(_ line: Line) async throws { await notebook.append(line) }
  func undo(_ line: Line, _: Void) async throws { _ = await notebook.removeLast(of: line.note) }
  func title(for line: Line) -> String { line.text }
  func footprint(of line: Line) -> HistoryFootprint? { .keys(line.note) }
}

private struct Move: UndoableUseCase {
  let notebook: Notebook

  func main(_ transfer: Transfer) async throws {
    guard let text = await notebook.removeLast(of: transfer.from) else { return }
    await notebook.append(Line(note: transfer.to, text: text))
  }

  func undo(_ transfer: Transfer, _: Void) async throws {
    try await main(Transfer(from: transfer.to, to: transfer.from))
  }

  func footprint(of transfer: Transfer) -> HistoryFootprint? {
    .keys(transfer.from, transfer.to)
  }
}

private struct Place: UndoableUseCase {
  func main(_ point: Int) async throws {}
  func undo(_ point: Int, _: Void) async throws {}
}

@MainActor
private final class List {
  private(set) var shown: [String] = []
  func show(_ error: any Error) { shown.append(String(describing: error)) }
}
