import CountingMalloc
import Dispatch
import Synchronization
import UseCase

/// Counts the allocations of the main paths, exactly, and fails when one has more than it may.
@main
struct Allocations {
  let name: String
  let limit: Double
  let run: @Sendable (_ count: Int, _ done: @escaping @Sendable () -> Void) -> Void

  static let all = [
    Allocations(name: "bare Task { }", limit: 4) { count, done in
      for index in 0..<count { Task { if index >= 0 { done() } } }
    },
    Allocations(name: "execute + then", limit: 7) { count, done in
      let useCase = Twice()
      for index in 0..<count {
        useCase.execute(index).then { value in if value >= 0 { done() } }
      }
    },
    Allocations(name: "execute + value, one after the other", limit: 7) { count, done in
      Task {
        let useCase = Twice()
        for index in 0..<count where try await useCase.execute(index).value >= 0 { done() }
      }
    },
    Allocations(name: "call form, one after the other", limit: 7) { count, done in
      Task {
        let useCase = Twice()
        for index in 0..<count where try await useCase(index) >= 0 { done() }
      }
    },
    Allocations(name: "execute + then, serial", limit: 8) { count, done in
      let useCase = Twice(queue: UseCaseQueue(.serial))
      for index in 0..<count {
        useCase.execute(index).then { value in if value >= 0 { done() } }
      }
    },
  ]

  static func main() {
    var isWithin = true
    for path in all {
      let allocations = path.count()
      let text = (allocations * 100).rounded() / 100
      print(allocations <= path.limit + 0.1 ? "ok  " : "FAIL", text, "of", path.limit, path.name)
      isWithin = isWithin && allocations <= path.limit + 0.1
    }
    if !isWithin { fatalError("A path allocates more than it may.") }
  }

  /// Runs the path once to warm up, then again, and returns the allocations of one operation.
  func count() -> Double {
    let count = 20_000
    measure(count)
    let before = counting_malloc_calls()
    measure(count)
    return Double(counting_malloc_calls() - before) / Double(count)
  }

  private func measure(_ count: Int) {
    let finished = DispatchSemaphore(value: 0)
    let rest = Counter(count)
    run(count) { if rest.down() { finished.signal() } }
    finished.wait()
  }
}

struct Twice: UseCase {
  var queue = UseCaseQueue.default

  func main(_ number: Int) async throws -> Int { number * 2 }
}

final class Counter: Sendable {
  private let rest: Atomic<Int>

  init(_ count: Int) { rest = Atomic(count) }

  func down() -> Bool { rest.subtract(1, ordering: .relaxed).newValue == 0 }
}
