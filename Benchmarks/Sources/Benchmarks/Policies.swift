import Dispatch
import Foundation
import Synchronization
import UseCase

extension Scenario {
  static let serial = drain("serial", .serial, limit: 1)
  static let limit = drain("limit(2)", .limit(2), limit: 2)

  /// Many at once, of which `limit` run at a time and the others wait.
  private static func drain(
    _ name: String, _ policy: UseCaseQueue.Policy, limit: Int
  ) -> Scenario {
    Scenario(
      name: name,
      contestants: [
        Contestant("Task after Task", isBare: true, count: 5_000) { count, client in
          var last = Array(repeating: Task<Void, Never>?.none, count: limit)
          for number in 0..<count {
            last[number % limit] = Task { [previous = last[number % limit]] in
              await previous?.value
              client.take(twice(number))
            }
          }
        },
        Contestant("UseCase", .atMost(1.5, of: "Task after Task"), count: 5_000) { count, client in
          let useCase = Twice(queue: UseCaseQueue(policy))
          for number in 0..<count { useCase.execute(number).then { client.take($0) } }
        },
        .blocks(limit: limit, count: 5_000),
        .callbacks(limit: limit, count: 5_000),
      ])
  }

  /// Each cancels the one before.
  static let storm = Scenario(
    name: "cancelPrevious: storm",
    contestants: [
      Contestant("Task.cancel by hand", isBare: true, count: 5_000) { count, client in
        var last: Task<Void, Never>?
        for number in 0..<count {
          last?.cancel()
          last = Task { client.take(Task.isCancelled ? 0 : twice(number)) }
        }
      },
      Contestant("by hand, with a handler", count: 5_000, start: ByHand.storm),
      Contestant("UseCase", .atMost(1.2, of: "Task.cancel by hand"), count: 5_000) {
        count, client in
        let useCase = Twice(queue: UseCaseQueue(.cancelPrevious))
        for number in 0..<count { useCase.execute(number).finally { client.take(number) } }
      },
      Contestant("OperationQueue", .atLeast(2, of: "UseCase"), count: 5_000) { count, client in
        let queue = OperationQueue()
        var last: Operation?
        for number in 0..<count {
          last?.cancel()
          last = queue.addBlock(number) { client.take($0) }
        }
      },
      Contestant("2017 design", .atLeast(2.5, of: "UseCase"), count: 5_000) { count, client in
        let queue = OperationQueue()
        let delivery = DispatchQueue(label: "delivery")
        var last: Operation?
        for number in 0..<count {
          last?.cancel()
          let operation = CallbackOperation(number, delivery: delivery, body: twice)
          operation.completionBlock = { client.take(number) }
          queue.addOperation(operation.then { _ = $0 })
          last = operation
        }
      },
    ])

  /// One runs all the while; of the others only the newest ever runs.
  static let keepLatest = flood("keepLatest: flood", .keepLatest)

  /// The newest starts, as many as an interval allows.
  private final class Pace: Sendable {
    private let starts: Mutex<[ContinuousClock.Instant]>

    init(_ count: Int) {
      starts = Mutex(Array(repeating: .now - .milliseconds(1), count: count))
    }

    var next: ContinuousClock.Instant { starts.withLock { $0[0] } + .milliseconds(1) }

    func start() {
      starts.withLock { starts in
        starts.removeFirst()
        starts.append(.now)
      }
    }
  }

  static let throttle = paced("throttle: flood", .throttle(.milliseconds(1)), starts: 1)
  static let rate = paced(
    "rate: flood", .keepLatest.rate(10, per: .milliseconds(1)), starts: 10)

  /// Each cancels the one that waits for a millisecond to pass since one of the last starts.
  private static func paced(
    _ name: String, _ policy: UseCaseQueue.Policy, starts: Int
  ) -> Scenario {
    Scenario(
      name: name,
      contestants: [
        Contestant("Task.sleep by hand", isBare: true, count: 5_000) { count, client in
          let pace = Pace(starts)
          var last: Task<Void, Never>?
          for number in 0..<count {
            last?.cancel()
            let start = pace.next
            last = Task {
              guard (try? await Task.sleep(until: start)) != nil else { return client.take(0) }
              pace.start()
              client.take(twice(number))
            }
          }
        },
        Contestant("UseCase", count: 5_000) { count, client in
          let useCase = Twice(queue: UseCaseQueue(policy))
          for number in 0..<count { useCase.execute(number).finally { client.take(number) } }
        },
      ])
  }

  /// One runs all the while; the others are refused.
  static let drop = flood("dropWhileBusy: flood", .dropWhileBusy)

  private static func flood(_ name: String, _ policy: UseCaseQueue.Policy) -> Scenario {
    Scenario(
      name: name,
      contestants: [
        Contestant("bare Task for each", isBare: true, count: 5_000) { count, client in
          let gate = Gate()
          Task {
            await gate.pass()
            client.take(0)
          }
          for number in 1..<count { Task { client.take(twice(number)) } }
          gate.open()
        },
        Contestant("UseCase", count: 5_000) { count, client in
          let gate = Gate()
          let queue = UseCaseQueue(policy)
          AnyUseCase(queue: queue) { await gate.pass() }.execute().finally { client.take(0) }
          let useCase = Twice(queue: queue)
          for number in 1..<count { useCase.execute(number).finally { client.take(number) } }
          gate.open()
        },
      ])
  }
}
