import NotesWire
import Testing
import UseCase
import UseCaseHistory

@testable import notes

struct UseCasesTests {
  private let server = FakeServer()
  private let notes: Notes

  init() {
    notes = Notes(server: server, paper: Paper(seed: 7))
  }

  /// Makes notes, and returns their ids.
  private func make(_ texts: String...) async throws -> [Note.ID] {
    var ids: [Note.ID] = []
    for text in texts {
      ids.append(try #require(try await notes.new.execute(notes.paper.note(text)).value.after?.id))
    }
    return ids
  }

  @discardableResult
  private func undo() async throws -> String? { try await notes.history.undo().value?.title }

  @discardableResult
  private func redo() async throws -> String? { try await notes.history.redo().value?.title }

  /// As the history of the notes is written down: `one two | three`.
  private var titles: String {
    let entries = notes.history.entries
    let applied = entries.filter(\.isApplied).map(\.title)
    return (applied + ["|"] + entries.filter { !$0.isApplied }.map(\.title)).joined(separator: " ")
  }

  @Test func `a list shows what is known at once, and then what is there`() async throws {
    _ = try await make("a")
    _ = try await notes.list.execute(()).value
    server.change("a", to: "b")
    server.hold()
    let (updates, continuation) = AsyncStream.makeStream(of: [String].self)
    let list = notes.list.execute(()) { notes in continuation.yield(notes.map(\.text)) }
    // The server has not answered yet.
    var iterator = updates.makeAsyncIterator()
    #expect(await iterator.next() == ["a"])
    server.release()
    #expect(try await list.value.map(\.text) == ["b"])
  }

  @Test func `rows of one note share one load, and its failure`() async throws {
    let ids = try await make("a", "b")
    server.hold()
    let rows = notes.rows.execute([ids[0], ids[0], ids[0], ids[1]])
    // The load of the last row has arrived.
    await server.arrived(4)
    server.release()
    #expect(try await rows.value.map(\.text) == ["a", "a", "a", "b"])
    #expect(notes.rows.load.queue.activity.executed == 2)
    server.fail(with: .busy)
    await #expect(throws: NotesError.busy) { try await notes.rows.execute([ids[0], ids[0]]).value }
  }

  @Test func `whatever is done is undone and redone on the server`() async throws {
    let ids = try await make("a", "b")
    _ = try await notes.edit.execute(.init(id: ids[0], text: "c")).value
    _ = try await notes.remove.execute(ids[1]).value
    _ = try await notes.edit.execute(.init(id: ids[0], text: "d")).value
    let steps = [["d"], ["c"], ["c", "b"], ["a", "b"], ["a"], []]
    for texts in steps.dropFirst() {
      try await undo()
      #expect(server.texts == texts)
    }
    for texts in steps.reversed().dropFirst() {
      try await redo()
      #expect(server.texts == texts)
    }
    #expect(try await redo() == nil)
  }

  @Test func `the beginning of an id is enough if no other begins so`() async throws {
    let ids = try await make("a", "b")
    let shown = try await notes.show.execute(String(ids[1].prefix(1))).value
    #expect(shown.note.text == "b")
    for (id, error) in [
      ("", NotesError.notFound("")), ("../x", .notFound("../x")), ("zz", .notFound("zz")),
    ] {
      await #expect(throws: error) { try await notes.show.execute(id).value }
    }
    notes.notebook.cache.notes = nil
    #expect(try await notes.show.execute(String(ids[0].prefix(2))).value.note.text == "a")
    server.change("a", to: nil)
    await #expect(throws: NotesError.notFound(ids[0])) {
      try await notes.show.execute(ids[0]).value
    }
  }

  @Test func `undo of a show opens the note before, as it is by now`() async throws {
    let ids = try await make("a", "b")
    for id in ids { _ = try await notes.show.execute(id).value }
    server.change("a", to: "c")
    try await undo()
    #expect(notes.desk.note?.text == "c")
    try await undo()
    #expect(notes.desk.note == nil)
    try await redo()
    #expect(notes.desk.note?.text == "c")
    try await redo()
    server.change("c", to: nil)
    try await undo()
    #expect(notes.desk.note == nil)
  }

  @Test func `a failure costs neither the undo nor what could be redone`() async throws {
    _ = try await make("a", "b")
    try await undo()
    server.fail(with: .unreachable)
    await #expect(throws: NotesError.unreachable) { try await undo() }
    await #expect(throws: NotesError.unreachable) { try await redo() }
    await #expect(throws: NotesError.unreachable) { try await make("c") }
    #expect(titles == "New “a” | New “b”")
    server.fail(with: nil)
    #expect(try await redo() == "New “b”")
    #expect(server.texts == ["a", "b"])
    try await undo()
    _ = try await make("c")
    // It touches another note.
    #expect(titles == "New “a” New “c” | New “b”")
  }

  @Test func `what somebody else has written is not undone`() async throws {
    let ids = try await make("a")
    _ = try await notes.edit.execute(.init(id: ids[0], text: "b")).value
    server.change("b", to: "theirs")
    await #expect(throws: HistoryObsolete.self) { try await undo() }
    #expect(server.texts == ["theirs"])
    // The undo goes on with what is below.
    #expect(titles == "New “a” |")
  }

  @Test func `a removal is undone after changes of other notes`() async throws {
    let ids = try await make("a", "b")
    let removal = notes.remove.execute(ids[0])
    _ = try await removal.value
    _ = try await make("c")
    _ = try await notes.show.execute(ids[1]).value
    let entry = try #require(notes.history.entry(of: removal.id))
    _ = try await notes.history.undo(entry.id).value
    #expect(Set(server.texts) == ["a", "b", "c"])
    #expect(titles.hasSuffix("| Remove \(ids[0])"))
  }

  @Test func `an import reports its progress and is one step`() async throws {
    let (updates, continuation) = AsyncStream.makeStream(of: Int.self)
    let importing = notes.importNotes
      .execute(.init(name: "x", texts: ["a", "b", "c"])) { continuation.yield($0.done) }
      .finally { continuation.finish() }
    #expect(await updates.reduce(into: []) { $0.append($1) } == [1, 2, 3])
    #expect(try await importing.value.done == 3)
    #expect(titles == "Import x |")
    try await undo()
    #expect(server.texts == [])
    try await redo()
    #expect(server.texts == ["a", "b", "c"])
  }

  @Test func `a cancelled import is taken back`() async throws {
    server.hold(at: 2)
    let importing = notes.importNotes.execute(.init(name: "x", texts: ["a", "b", "c"]))
    await server.arrived(2)
    importing.cancel()
    server.release()
    guard case .cancelled(.requested) = await importing.ended() else {
      Issue.record("it was not cancelled")
      return
    }
    await notes.history.idle()
    #expect(server.texts == [])
    #expect(notes.history.entries.isEmpty)
  }

  @Test func `an import that fails keeps what it has imported as a step`() async throws {
    server.fail(at: 3, with: .unreachable)
    let response = try await notes.importNotes.execute(.init(name: "x", texts: ["a", "b", "c"]))
      .value
    #expect(response.done == 2)
    #expect(response.failure as? NotesError == .unreachable)
    #expect(notes.history.entries.map(\.children.count) == [2])
  }

  @Test func `an import of nothing, or cancelled before its first note, leaves no trace`()
    async throws
  {
    _ = try await make("a")
    try await undo()
    _ = try await notes.importNotes.execute(.init(name: "x", texts: [])).value
    #expect(titles == "| New “a”")
  }

  @Test func `an undo of an import that stops half-way goes on later`() async throws {
    _ = try await notes.importNotes.execute(.init(name: "x", texts: ["a", "b", "c"])).value
    server.fail(at: 5, with: .busy)
    await #expect(throws: NotesError.busy) { try await undo() }
    #expect(server.texts == ["a", "b"])
    #expect(titles == "Import x |")
    try await undo()
    #expect(server.texts == [])
    try await redo()
    #expect(server.texts == ["a", "b", "c"])
  }

  // Without the check before a request is sent, the undo cannot be cancelled.
  @Test func `an undo of an import that is cancelled stops, and goes on later`() async throws {
    _ = try await notes.importNotes.execute(.init(name: "x", texts: ["a", "b", "c"])).value
    server.hold(at: 4)
    let undoing = notes.history.undo()
    await server.arrived(4)
    undoing.cancel()
    server.release()
    await undoing.ended()
    #expect(server.texts == ["a", "b"])
    try await undo()
    #expect(server.texts == [])
  }

  @Test func `a new note that is cancelled on its way can be undone`() async throws {
    server.hold(at: 1)
    let new = notes.new.execute(notes.paper.note("a"))
    await server.arrived(1)
    new.cancel()
    server.release()
    await new.ended()
    #expect(server.texts == ["a"])
    try await undo()
    #expect(server.texts == [])
  }

  @Test func `a token that is refused is not kept`() async throws {
    let credentials = Credentials(token: "old")
    let logIn = LogIn(credentials: credentials, listNotes: notes.list)
    server.fail(with: .notLoggedIn)
    await #expect(throws: NotesError.notLoggedIn) { try await logIn.execute("guess").value }
    #expect(credentials.token == "old")
    server.fail(with: nil)
    #expect(try await logIn.execute("right").value == [])
    #expect(credentials.token == "right")
  }

  @Test func `notes that are made at once remain in their order`() {
    let paper = Paper()
    let notes = (0..<1000).map { paper.note("\($0)") }
    #expect(notes.sorted(by: Note.areInOrder) == notes)
    #expect(Set(notes.map(\.id)).count == 1000)
    #expect(notes.allSatisfy { Note.isValid(id: $0.id) && $0.id.count == 13 })
  }
}
