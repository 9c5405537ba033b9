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
      list.show(error)  // Another change is in the way. Undo or redo it first.
    }
    .ended()
    #expect(list.shown == ["Another change is in the way. Undo or redo it first."])
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

  @Test(.holds("Rows of a document"))
  func `a toast undoes its deletion after the list was reordered`() async {
    let rows = Rows()
    let (list, edit) = (RowList(history: history, rows: rows), EditRow(rows: rows))
    let texts = ["a", "b", "c"]
    for (index, text) in texts.enumerated() {
      await rows.put(
        Row(id: index, note: "shopping", position: Double(index), text: text), for: index)
    }
    await rows.put(Row(id: 3, note: "travel", position: 0, text: "d"), for: 3)
    let all = await rows.all

    list.delete(all[1])
    let deletion = await list.toast.shown.elements(atLeast: 1)[0].entry
    func change(_ id: Int, _ change: (inout Row) -> Void) async {
      guard let old = await rows.all.first(where: { $0.id == id }) else { return }
      var new = old
      change(&new)
      await history.execute(edit, .init(old: old, new: new)).ended()
    }
    await change(2) { $0.position = -1 }
    await change(0) { $0.text = "A" }
    await change(3) { ($0.note, $0.position) = ("shopping", 9) }
    #expect(await rows.texts("shopping") == ["c", "A", "d"])

    await history.undo(deletion).ended()
    #expect(await rows.texts("shopping") == ["c", "A", "b", "d"])
    // It was moved from there.
    await history.undo(in: .keys("travel")).ended()
    #expect(await rows.texts("travel") == ["d"])
    for _ in 1...2 { await history.undo(in: .keys("shopping")).ended() }
    #expect(await rows.texts("shopping") == ["a", "b", "c"])
    #expect(list.toast.shown.elements.map(\.text) == ["Deleted b"])
  }

  @Test(.holds("canUndo"))
  func `each person undoes only what they did`() async {
    let edit = EditCell(notebook: notebook)
    let alice = HistoryFootprint.keys("user alice")
    await history.execute(edit, CellEdit(cell: "A1", user: "alice")).ended()
    await history.execute(edit, CellEdit(cell: "B1", user: "bob")).ended()
    #expect(history.state(in: alice).canUndo)
    await history.undo(in: .keys("user alice")).ended()
    #expect(await notebook.notes == ["A1": [], "B1": ["bob"]])

    await history.redo(in: alice).ended()
    await history.execute(edit, CellEdit(cell: "A1", user: "bob")).ended()
    #expect(!history.state(in: alice).canUndo)
    let (list, blocker) = (List(), history.entries[2].id)
    await history.undo(in: alice).catch(HistoryError.self) { error in list.show(error) }.ended()
    #expect(list.shown == [String(describing: HistoryError.blocked(by: [blocker]))])
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

private struct CellEdit: Sendable {
  let cell: String
  let user: String
}

private struct Row: Identifiable, Sendable {
  let id: Int
  var note: String
  var position: Double
  var text: String
}

private actor Rows {
  private var rows: [Int: Row] = [:]

  var all: [Row] { rows.values.sorted { $0.id < $1.id } }
  func put(_ row: Row?, for id: Int) { rows[id] = row }

  func texts(_ note: String) -> [String] {
    rows.values.filter { $0.note == note }.sorted { $0.position < $1.position }.map(\.text)
  }
}

private struct EditRow: UndoableUseCase {
  struct Request: Sendable {
    let old: Row
    let new: Row?  // nil: the row is deleted
  }

  let rows: Rows

  func main(_ request: Request) async throws {
    await rows.put(request.new, for: request.old.id)
  }

  func undo(_ request: Request, _: Void) async throws {
    await rows.put(request.old, for: request.old.id)
  }

  func footprint(of request: Request) -> HistoryFootprint? {
    let (old, new) = (request.old, request.new ?? request.old)
    return .keys(old.id).within(.keys(old.note, new.note))
  }
}

@MainActor
private struct RowList {
  final class Toast {
    let shown = Log<(text: String, entry: HistoryEntry.ID)>()
    func show(_ text: String, undo entry: HistoryEntry.ID) { shown.append((text, entry)) }
  }

  let history: UseCaseHistory
  let edit: EditRow
  let toast = Toast()

  init(history: UseCaseHistory, rows: Rows) {
    (self.history, edit) = (history, EditRow(rows: rows))
  }

  func delete(_ row: Row) {
    let deletion = history.execute(edit, .init(old: row, new: nil))
    deletion.then { _ in
      guard let entry = history.entry(of: deletion.id) else { return }
      toast.show("Deleted \(row.text)", undo: entry.id)
    }
  }
}

private struct EditCell: UndoableUseCase {
  let notebook: Notebook

  func main(_ edit: CellEdit) async throws {
    await notebook.append(Line(note: edit.cell, text: edit.user))
  }

  func undo(_ edit: CellEdit, _: Void) async throws { _ = await notebook.removeLast(of: edit.cell) }

  func footprint(of edit: CellEdit) -> HistoryFootprint? {
    .keys("cell \(edit.cell)", "user \(edit.user)")
  }
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
