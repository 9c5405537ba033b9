import NotesModels
import Testing
import UseCase
import UseCaseHistory

@Suite(.timeLimit(.minutes(1))) @MainActor
struct UndoTests {
  private static let notes = [Note(id: 1, text: "Milk"), Note(id: 2, text: "Lisbon")]

  private func launch() async throws -> (TestApp, TestServer) {
    let server = try TestServer(Self.notes)
    let test = try await TestApp(server)
    try await test.app.feed.load().settled()
    return (test, server)
  }

  private func texts(_ test: TestApp) -> [String] { test.app.feed.rows.map(\.text) }

  @Test func `each note has its own undo and redo, with titles`() async throws {
    let (test, _) = try await launch()
    let (milk, lisbon) = (
      EditorModel(1, in: test.app.notebook), EditorModel(2, in: test.app.notebook)
    )
    milk.type("Milk, tea")
    lisbon.type("Lisbon, Porto")
    try await test.undo(milk.edits)
    #expect(texts(test) == ["Lisbon, Porto", "Milk"] && milk.text == "Milk")
    lisbon.type("Porto")
    await test.app.notebook.history.idle()
    #expect(milk.edits.redoTitle == "Edit “Milk”" && milk.edits.undoTitle == nil)
    #expect(lisbon.edits.undoTitle == "Edit “Lisbon, Porto”" && !lisbon.edits.canRedo)
    try await test.redo(milk.edits)
    #expect(texts(test) == ["Porto", "Milk, tea"])
  }

  @Test func `typing is one entry, and its undo asked for at once waits for it`() async throws {
    let (test, server) = try await launch()
    let editor = EditorModel(1, in: test.app.notebook)
    for text in ["Milk,", "Milk, t", "Milk, tea"] { editor.type(text) }
    try await test.undo(editor.edits)
    #expect(editor.text == "Milk" && test.app.notebook.history.entries.count == 1)
    await test.app.notebook.saveNow()
    #expect(server.content.notes[1]?.text == "Milk" && editor.status == "Saved")
  }

  @Test func `the toast undoes its deletion, whatever came after it`() async throws {
    let (test, server) = try await launch()
    let notebook = test.app.notebook
    try await notebook.delete(Self.notes[0]).settled()
    #expect(notebook.toast?.text == "Delete “Milk”" && texts(test) == ["Lisbon"])
    try await notebook.edit("Edit", [Note(id: 2, text: "Porto")]).settled()
    await notebook.saveNow()
    #expect(server.content.notes[1]?.isDeleted == true)
    notebook.undoToast()
    await notebook.history.idle()
    #expect(texts(test) == ["Porto", "Milk"] && notebook.toast == nil)
    #expect(notebook.edits.redoTitle == "Delete “Milk”" && notebook.edits.undoTitle == "Edit")
    await notebook.saveNow()
    #expect(server.content.notes[1]?.isDeleted == false)
  }

  @Test func `a move is one entry of two notes, which either undoes as a whole`() async throws {
    let (test, _) = try await launch()
    let notebook = test.app.notebook
    let (milk, lisbon) = (EditorModel(1, in: notebook), EditorModel(2, in: notebook))
    try await notebook.move(Self.notes[0], into: Self.notes[1]).settled()
    #expect(texts(test) == ["Lisbon\nMilk"])
    #expect(milk.edits.undoTitle == "Move “Milk” into “Lisbon”")
    #expect(lisbon.edits.undoTitle == milk.edits.undoTitle)
    try await test.undo(milk.edits)
    #expect(texts(test) == ["Lisbon", "Milk"])
    try await test.redo(lisbon.edits)
    #expect(texts(test) == ["Lisbon\nMilk"])
    // A later edit of the one note is in the way of the undo in the other.
    lisbon.type("Porto")
    await notebook.history.idle()
    #expect(!milk.edits.canUndo)
    try await test.undo(milk.edits)
    #expect(notebook.message == "Another change is in the way. Undo or redo it first.")
    #expect(texts(test) == ["Porto"])
  }

  @Test func `a move into a deleted note brings it back, and a toast goes with its entry`()
    async throws
  {
    let (test, _) = try await launch()
    let notebook = test.app.notebook
    try await notebook.delete(Self.notes[1]).settled()
    try await test.undo()
    #expect(notebook.toast == nil)
    try await test.redo()
    let lisbon = EditorModel(2, in: notebook)
    #expect(lisbon.note.isDeleted)
    try await notebook.move(Self.notes[0], into: lisbon.note).settled()
    #expect(texts(test) == ["Lisbon\nMilk"])
  }

  @Test func `undo and redo go on at the next launch`() async throws {
    let (test, server) = try await launch()
    try await test.app.notebook.move(Self.notes[0], into: Self.notes[1]).settled()
    test.app.newNote()
    await test.app.notebook.history.idle()
    try await test.undo()

    let next = try await test.relaunched(server)
    #expect(next.app.notebook.edits.redoTitle == "New note")
    #expect(next.app.notebook.edits.undoTitle == "Move “Milk” into “Lisbon”")
    try await next.undo()
    #expect(texts(next) == ["Lisbon", "Milk"])
    try await next.redo()
    try await next.redo()
    #expect(texts(next) == ["", "Lisbon\nMilk"])
    #expect(!next.app.notebook.edits.canRedo)
  }
}
