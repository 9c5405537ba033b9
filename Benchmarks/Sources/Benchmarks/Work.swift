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

/// Goes from lane to lane. These stay, so that only the look-up is counted.
struct TwiceOnLanes: UseCase {
  private static let held: (lanes: UseCaseLanes<Int>, queues: [UseCaseQueue]) = {
    let lanes = UseCaseLanes<Int>(.unlimited)
    return (lanes, (0..<8).map { lanes[$0] })
  }()

  let lanes = held.lanes
  let count: Int

  func queue(for number: Int) -> UseCaseQueue { lanes[number % count] }
  func main(_ number: Int) async throws -> Int { twice(number) }
}

struct Undoable: UndoableUseCase {
  func main(_ number: Int) async throws -> Int { twice(number) }
  func undo(_ number: Int, _ response: Int) async throws {}
}

/// As `Undoable`, with an interceptor around it.
struct UndoableIntercepted: UndoableUseCase {
  let queue = UseCaseQueue(interceptors: [Passing()])

  func main(_ number: Int) async throws -> Int { twice(number) }
  func undo(_ number: Int, _ response: Int) async throws {}
}

/// Calls its body, and does nothing else.
struct Passing: UseCaseInterceptor {
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    try await next(request)
  }
}

/// Takes the results of `count` operations.
final class Client: Sendable {
  private let rest: Atomic<Int>
  private let isDone = DispatchSemaphore(value: 0)

  init(_ count: Int) { rest = Atomic(count) }

  func take(_ value: Int) {
    if value >= 0, rest.subtract(1, ordering: .relaxed).newValue == 0 { isDone.signal() }
  }

  /// Returns when all results are there, each time that it is called.
  func wait() {
    isDone.wait()
    isDone.signal()
  }
}

/// Keeps tasks waiting until it is opened.
final class Gate: Sendable {
  private let waiters = Mutex<[UnsafeContinuation<Void, Never>]?>([])

  func pass() async {
    await withUnsafeContinuation { waiter in
      let isOpen = waiters.withLock { waiters in
        waiters?.append(waiter)
        return waiters == nil
      }
      if isOpen { waiter.resume() }
    }
  }

  func open() {
    for waiter in waiters.withLock({ $0.take() }) ?? [] { waiter.resume() }
  }
}

extension Contestant {
  /// Starts `count` operations, each of which gives its result to the client.
  init(
    _ name: String, isBare: Bool = false, _ target: Target? = nil, count: Int,
    start: @escaping @Sendable (_ count: Int, _ client: Client) -> Void
  ) {
    self.init(name: name, isBare: isBare, target: target) { scale in
      let count = scale(count)
      return time(count, start) / Double(count)
    }
  }

  /// Does `count` operations in one task.
  init(
    _ name: String, isBare: Bool = false, _ target: Target? = nil, inTask count: Int,
    body: @escaping @Sendable (_ count: Int) async throws -> Void
  ) {
    self.init(name: name, isBare: isBare, target: target) { scale in
      let count = scale(count)
      let nanoseconds = time(1) { _, client in
        Task {
          try await body(count)
          client.take(0)
        }
      }
      return nanoseconds / Double(count)
    }
  }
}

/// Returns how many nanoseconds it takes until the client has all results.
func time(_ count: Int, _ start: (_ count: Int, _ client: Client) -> Void) -> Double {
  let client = Client(count)
  return nanoseconds {
    start(count, client)
    client.wait()
  }
}

func nanoseconds(_ body: () -> Void) -> Double {
  ContinuousClock().measure(body) / .nanoseconds(1)
}
