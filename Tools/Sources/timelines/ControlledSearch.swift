import Synchronization
import UseCase
import UseCaseTesting

/// Searches whose calls a test receives, and of which it answers the last one, ready to be drawn.
struct ControlledSearch: Equatable, Sendable {
  static let name = "controlled-search"
  static let title = "ControlledUseCase"
  static let sentence = "Each call waits until the test answers it."

  let calls: [Call]

  /// The answer of the test.
  let answer: [String]

  /// The titles that `then` received.
  let shown: [String]

  struct Call: Equatable, Sendable {
    let request: String
    let mark: Timeline.Lane.Mark
  }

  /// Executes real searches, one when the one before it has begun.
  static func run() async throws -> ControlledSearch {
    let search = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))
    let shown = Mutex([String]())
    var operations: [UseCaseOperation<String, [String]>] = []
    var calls: [ControlledUseCase<String, [String]>.Call] = []
    for text in ["e", "em"] {
      let operation = search.execute(text)
      operations.append(operation.then { titles in shown.withLock { $0 += titles } })
      calls.append(try await search.next())
    }
    let answer = ["Emma"]
    calls.last?.succeed(answer)
    var answered: [Call] = []
    for (operation, call) in zip(operations, calls) {
      answered.append(
        Call(request: call.request, mark: Timeline.Lane.Mark(await operation.ended())))
    }
    return ControlledSearch(calls: answered, answer: answer, shown: shown.withLock { $0 })
  }
}

extension Timeline.Lane.Mark {
  fileprivate init<Response>(_ outcome: UseCaseOutcome<Response>) {
    switch outcome {
    case .success: self = .succeeded
    case .failure: self = .failed
    case .cancelled(let reason): self = .cancelled(reason)
    }
  }
}
