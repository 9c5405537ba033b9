import Dispatch
import Synchronization
import UseCase
import UseCaseHistory

/// The work of one operation: next to nothing, so that what is measured is what surrounds it.
@inline(never)
func twice(_ number: Int) -> Int { number * 2 }

struct Twice: UseCase {
  var queue = UseCaseQueue.default

  func main(_ number: Int) async throws -> Int { twice(number) }
}

/// Takes the results of `count` operations, and lets one thread wait for the last.
final class Client: Sendable {
  private let rest: Atomic<Int>
  private let isDone = DispatchSemaphore(value: 0)

  init(_ count: Int) { rest = Atomic(count) }

  func take(_ value: Int) {
    if value >= 0, rest.subtract(1, ordering: .relaxed).newValue == 0 { isDone.signal() }
  }

  func wait() { isDone.wait() }
}

extension Contestant {
  /// Starts `count` operations, each of which gives its result to the client.
  init(
    _ name: String, _ target: Target? = nil, count: Int,
    start: @escaping @Sendable (_ count: Int, _ client: Client) -> Void
  ) {
    self.init(name: name, target: target) { scale in
      let count = scale(count)
      let client = Client(count)
      return nanoseconds {
        start(count, client)
        client.wait()
      } / Double(count)
    }
  }

  /// Does `count` operations in one task.
  init(
    _ name: String, _ target: Target? = nil, inTask count: Int,
    body: @escaping @Sendable (_ count: Int) async throws -> Void
  ) {
    self.init(name: name, target: target) { scale in
      let count = scale(count)
      let client = Client(1)
      return nanoseconds {
        Task {
          try await body(count)
          client.take(0)
        }
        client.wait()
      } / Double(count)
    }
  }
}

func nanoseconds(_ body: () -> Void) -> Double {
  ContinuousClock().measure(body) / .nanoseconds(1)
}

struct Undoable: UndoableUseCase {
  func main(_ number: Int) async throws -> Int { twice(number) }
  func undo(_ number: Int, _ response: Int) async throws {}
}
