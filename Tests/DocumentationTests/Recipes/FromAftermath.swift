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

  struct Facts: UseCaseInterceptor {  // the middleware
    let happened: AsyncStream<String>.Continuation

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let response = try await next(request)
      happened.yield("\(execution.useCase): \(response)")  // the fact
      return response
    }
  }

  @Test func `a command, its events, the reactions and a fact`() async {
    let screen = RecipeScreen()
    let (facts, happened) = AsyncStream<String>.makeStream()
    let saveNote = SaveNote(queue: UseCaseQueue(interceptors: [Facts(happened: happened)]))
    func save(_ note: Note) -> UseCaseOperation<Note, Int> {
      screen.show("saving")  // progress
      return saveNote.execute(note)
        .then { count in screen.show("\(count) letters") }  // data
        .catch { error in screen.show("\(error)") }  // error
    }
    await save(Note(text: "milk")).ended()
    await save(Note(text: "")).ended()
    happened.finish()
    for await fact in facts { screen.show(fact) }
    #expect(
      screen.lines == ["saving", "4 letters", "saving", "EmptyNote()", "SaveNote: 4"])
  }
}
