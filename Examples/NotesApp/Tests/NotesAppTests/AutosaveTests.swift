import Foundation
import LocalServer
import NotesModels
import NotesServer
import Testing
import UseCase

@Suite(.timeLimit(.minutes(1))) @MainActor
struct AutosaveTests {
  @Test func `a pause saves the newest text, and the next the text typed meanwhile`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    let editor = EditorModel(1, in: test.app.notebook)
    for text in ["M", "Mi", "Milk"] { editor.type(text) }
    #expect(editor.text == "Milk")
    try await test.until { editor.status == "Saving…" && editor.text == "Milk" }
    let first = server.hold("PUT /notes/1")
    await test.app.notebook.history.idle()
    try await test.pass(.seconds(1))
    try await first.arrived.pass()

    editor.type("Milk, tea")
    await test.app.notebook.history.idle()
    first.answer()
    try await test.pass(.seconds(1))
    try await test.until { editor.status == "Saved" }
    #expect(server.content.notes[1]?.text == "Milk, tea")
    #expect(server.requests == ["PUT /notes/1", "PUT /notes/1"])
  }

  @Test func `a save that fails is tried again, and then says so and offers it`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    let editor = EditorModel(1, in: test.app.notebook)
    server.setAway(true)
    editor.type("Milk")
    await test.app.notebook.history.idle()
    for pause in [1, 1, 2, 4, 8] { try await test.pass(.seconds(pause)) }
    try await test.until { editor.status == "Not saved: The server is away." }
    #expect(server.requests.count == 5 && editor.isUnsaved && editor.text == "Milk")
    #expect(test.app.notebook.failed == 1)

    server.setAway(false)
    editor.tryAgain()
    #expect(editor.status == "Saving…")
    try await test.until { editor.status == "Saved" }
    #expect(server.content.notes[1]?.text == "Milk" && !editor.isUnsaved)
  }

  @Test func `an answer that is lost saves the note once`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    server.fail("PUT /notes/1", .unanswered)
    try await test.app.notebook.edit("Edit", [Note(id: 1, text: "Milk")]).settled()
    try await test.pass(.seconds(1))
    try await test.pass(.seconds(1))
    try await test.until { test.app.notebook.status(of: 1) == "Saved" }
    #expect(server.content.notes[1] == Note(id: 1, text: "Milk", version: 1))
  }

  @Test func `a request that comes late replaces nothing newer`() throws {
    let server = NotesServer(notes: [Note(id: 1, text: "New", version: 2)]) { _ in (.none, {}) }
    let late = try JSONEncoder().encode(Note(id: 1, text: "Old", version: 1))
    let request = HTTPRequest(method: "PUT", target: "/notes/1", body: Array(late))
    let reply = try server.answer(request)
    guard case .whole(let answer) = reply else {
      Issue.record("The server has streamed \(reply).")
      return
    }
    #expect(answer.status == 200 && server.content.notes[1]?.text == "New")
  }

  @Test func `the background ends every pause`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    for id in 1...3 { EditorModel(id, in: test.app.notebook).type("Milk") }
    await test.app.notebook.saveNow()
    #expect(server.content.notes.count == 3)
    #expect((1...3).allSatisfy { test.app.notebook.status(of: $0) == "Saved" })
  }

  @Test func `offline edits stay, survive a kill, and are sent afterwards`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    let (reachable, network) = AsyncStream<Bool>.makeStream()
    let following = Task { await test.app.notebook.watch(reachable) }
    network.yield(false)
    try await test.until { !test.app.notebook.isOnline }
    let editor = EditorModel(1, in: test.app.notebook)
    editor.type("Milk")
    await test.app.notebook.history.idle()
    EditorModel(2, in: test.app.notebook).type("Tea")
    await test.app.notebook.history.idle()
    try await test.undo()
    await test.app.notebook.saveNow()
    #expect(editor.status == "Offline: kept on this device")
    #expect(test.app.feed.rows.map(\.title) == ["Milk"])

    let next = try await test.relaunched(server)
    #expect(next.app.feed.rows.map(\.title) == ["Milk"])
    #expect(next.app.notebook.edits.undoTitle == "Edit “New note”")
    #expect(next.app.notebook.edits.redoTitle == "Edit “New note”")
    #expect(server.requests == [])

    network.yield(true)
    try await test.until { editor.status == "Saved" }
    #expect(server.content.notes[1]?.text == "Milk")
    await next.app.notebook.saveNow()
    #expect(next.app.notebook.content.unsent.isEmpty)
    #expect(server.content.notes.values.filter { !$0.isDeleted }.map(\.text) == ["Milk"])
    network.finish()
    await following.value
  }

  @Test func `the network that comes back ends the pause between two tries`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    server.setAway(true)
    EditorModel(1, in: test.app.notebook).type("Milk")
    await test.app.notebook.history.idle()
    try await test.pass(.seconds(1))
    try await test.clock.sleeping(for: .seconds(1))
    server.setAway(false)
    let (reachable, network) = AsyncStream<Bool>.makeStream()
    network.yield(true)
    network.finish()
    await test.app.notebook.watch(reachable)
    try await test.until { test.app.notebook.status(of: 1) == "Saved" }
  }
}
