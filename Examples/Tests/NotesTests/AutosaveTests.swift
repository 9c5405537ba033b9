import NotesWire
import Testing
import UseCase
import UseCaseTesting

@testable import notes

/// No second passes by itself.
@Suite(.timeLimit(.minutes(15)))
struct AutosaveTests {
  private let server = FakeServer()
  private let clock = ManualClock()
  private let notes: Notes

  init() {
    notes = Notes(server: server, paper: Paper(seed: 7), clock: clock)
  }

  private var autosave: AutosaveNote { notes.type.autosave }

  private func make(_ text: String) async throws -> Note.ID {
    try #require(try await notes.new.execute(notes.paper.note(text)).value.after?.id)
  }

  @discardableResult
  private func type(_ text: String, _ id: Note.ID) -> UseCaseOperation<AutosaveNote.Request, Note> {
    autosave.execute(.init(id: id, text: text))
  }

  /// Lets time pass once a lane waits for it.
  private func pass(_ duration: Duration) async throws {
    try await clock.sleeping()
    await clock.advance(by: duration)
  }

  @Test func `a text is saved when the typing has paused for a second`() async throws {
    let id = try await make("a")
    let first = type("b", id)
    try await pass(.milliseconds(900))
    let second = type("bc", id)
    try await pass(.milliseconds(900))
    #expect([first, second].map(\.state) == [.finished, .waiting])
    try await pass(.milliseconds(100))
    #expect(try await second.value.text == "bc")
    #expect(server.texts == ["bc"])
  }

  @Test func `a text is saved each ten seconds while the typing never pauses`() async throws {
    let id = try await make("a")
    var saves: [UseCaseOperation<AutosaveNote.Request, Note>] = []
    for number in 1...40 {
      saves.append(type("\(number)", id))
      try await pass(.milliseconds(500))
      await saves.last?.endedIfRunning()
    }
    #expect(saves.filter(\.hasSucceeded).map(\.request.text) == ["20", "40"])
  }

  @Test func `a save that runs goes on, and the newest text is saved after it`() async throws {
    let id = try await make("a")
    server.hold()
    let first = type("b", id)
    try await pass(.seconds(1))
    await server.arrived(2)
    let saves = [type("c", id), type("d", id)]
    autosave.lanes.flush()
    #expect(first.state == .running)
    #expect(saves.map(\.state) == [.finished, .waiting])
    server.release()
    await autosave.lanes.idle()
    #expect(server.texts == ["d"])
    #expect(([first] + saves).map(\.hasSucceeded) == [true, false, true])
  }

  @Test func `leaving the notes saves the last text of each at once, side by side`() async throws {
    let ids = [try await make("a"), try await make("b")]
    server.hold()
    let type = notes.type.execute(.init(ids: ids, text: "xyz"))
    // Both lanes ask for the note that they will save.
    await server.arrived(4)
    server.release()
    #expect(try await type.value.map(\.count) == [1, 1])
    #expect(server.texts == ["xyz", "xyz"])
  }

  @Test func `typing that is cancelled saves its last text, too`() async throws {
    let id = try await make("a")
    server.hold()
    let type = notes.type.execute(.init(ids: [id], text: "xyz"))
    await server.arrived(2)
    type.cancel()
    server.release()
    guard case .cancelled(.requested) = await type.ended() else {
      Issue.record("it was not cancelled")
      return
    }
    #expect(server.texts == ["xyz"])
  }

  @Test func `a save that fails is told`() async throws {
    let id = try await make("a")
    server.fail(with: .offline)
    await #expect(throws: NotesError.offline) {
      try await notes.type.execute(.init(ids: [id], text: "xyz")).value
    }
  }
}

extension UseCaseOperation {
  fileprivate var hasSucceeded: Bool {
    if case .success? = outcome { true } else { false }
  }

  /// Waits for the end of an operation that has begun.
  fileprivate func endedIfRunning() async {
    if state != .waiting { await ended() }
  }
}
