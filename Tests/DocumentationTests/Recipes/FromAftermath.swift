import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct FromAftermath {
  struct Note: Sendable, Equatable {
    var text: String
  }

  struct SaveNote: UseCase {  // the command handler
    let queue: UseCaseQueue

    func main(_ note: Note) async throws -> Int {  // the command
      guard !note.text.isEmpty else { throw EmptyNote() }
      return note.text.count
    }
  }

  struct EmptyNote: Error {}

  struct Logging: UseCaseInterceptor {  // the middleware
    let log: @Sendable (String) -> Void

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      log("\(execution.useCase) asks for \(request)")
      return try await next(request)
    }
  }

  private let screen = TestScreen()

  @Test func `a reaction waits, consumes and rescues, whatever executes`() async {
    let screen = screen
    let reactions = UseCaseReactions()
    reactions.to(SaveNote.self) { operation in
      operation
        .onStart { @MainActor in screen.show("Saving…") }  // wait
        .then { @MainActor size in screen.show("\(size) letters") }  // consume
        .catch { @MainActor error in screen.show("\(error)") }  // rescue
    }

    let saveNote = SaveNote(queue: UseCaseQueue(reactions: reactions))
    saveNote.execute(Note(text: "milk"))
    await saveNote.queue.idle()
    while screen.lines.count < 2 { await Task.yield() }
    await saveNote.execute(Note(text: "")).ended()
    #expect(screen.lines == ["Saving…", "4 letters", "Saving…", "EmptyNote()"])
  }

  @Test func `two parts of an app hear of one fact, until the screen of one is gone`() async {
    let (reactions, heard) = (UseCaseReactions(), Log<String>())
    var scope: UseCaseScope? = UseCaseScope()
    reactions.to(SaveNote.self) { $0.then { heard.append("count \($0)") } }
    if let scope {
      reactions.to(SaveNote.self) { $0.then { heard.append("badge \($0)") } }.store(in: scope)
    }
    let saveNote = SaveNote(queue: UseCaseQueue(reactions: reactions))
    await saveNote.execute(Note(text: "milk")).ended()
    scope = nil
    await saveNote.execute(Note(text: "tea")).ended()
    #expect(heard.elements == ["count 4", "badge 4", "count 3"])
  }

  @Test func `middleware hears of each command`() async throws {
    let lines = Log<String>()
    let saveNote = SaveNote(queue: UseCaseQueue(interceptors: [Logging(log: lines.append)]))
    #expect(try await saveNote(Note(text: "milk")) == 4)
    #expect(lines.elements == [#"SaveNote asks for Note(text: "milk")"#])
  }

  @Test func `an observer makes a trace`() async {
    let lines = Log<String>()
    @Sendable func trace(_ line: String) { lines.append(line) }
    let observed = UseCaseQueue(.serial) { event in
      let parent = event.parent.map { " in \($0)" } ?? ""
      let error = event.error.map { ": \($0)" } ?? ""
      trace("\(event.useCase)\(parent) \(event.kind)\(error)")
    }
    let inner = AnyUseCase<Int, Int>(queue: observed) { _ in throw EmptyNote() }
    let outer = AnyUseCase<Int, Int>(queue: observed) { try await inner($0) }
    let operation = outer.execute(1)
    await operation.ended()
    let name = "AnyUseCase<Int, Int>"
    #expect(
      Array(lines.elements.prefix(3)) == [
        "\(name) running", "\(name) in \(operation.id) running",
        "\(name) in \(operation.id) failed: EmptyNote()",
      ])
  }
}
