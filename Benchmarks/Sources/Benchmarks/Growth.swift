import CountingMalloc
import Foundation
import UseCase

extension Scenario {
  /// Operations of which one runs and the others wait, in lines of a certain length.
  static let waiting = Scenario(
    name: "waiting in a line",
    rounds: 7,
    contestants: [1_000, 100_000, 1_000_000].flatMap { length in
      let count = max(100_000, length)
      return [
        Contestant("Task after Task, \(length.grouped)", isBare: true, lines: length, of: count) {
          length, client in
          let gate = Gate()
          var last = Task { await gate.pass() }
          for number in 0..<length {
            last = Task { [last] in
              await last.value
              client.take(twice(number))
            }
          }
          gate.open()
        },
        Contestant(
          "UseCase, \(length.grouped)",
          length == 1_000 ? nil : .atMost(1.3, of: "UseCase, 1,000"), lines: length, of: count
        ) { length, client in
          let useCase = Twice(queue: UseCaseQueue(.serial))
          useCase.queue.suspend()
          for number in 0..<length { useCase.execute(number).then { client.take($0) } }
          useCase.queue.resume()
        },
      ]
    })

  /// Operations of five priorities, of which one runs and the others wait in one line.
  static let priority = Scenario(
    name: "priority: a line of 100,000",
    rounds: 9,
    contestants: [
      .line("in order", isBare: true, .serial), .line("by priority", .serial.byPriority),
      Contestant("OperationQueue, queuePriority", count: 100_000) { count, client in
        let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        let queue = OperationQueue(limit: 1)
        queue.isSuspended = true
        for number in 0..<count {
          queue.addBlock(number, priority: priorities[number % 5]) { client.take($0) }
        }
        queue.isSuspended = false
      },
    ])

  /// Handlers of one operation, and the same closures called by a task.
  static let handlers = Scenario(
    name: "handlers of an operation",
    contestants: [1, 100, 10_000].flatMap { length in
      [
        Contestant("closures in a Task, \(length.grouped)", isBare: true, lines: length, of: 20_000)
        {
          length, client in
          var handlers: [@Sendable (Int) -> Void] = []
          for _ in 0..<length { handlers.append { client.take($0) } }
          Task { [handlers] in
            let value = twice(1)
            for handler in handlers { handler(value) }
          }
        },
        Contestant("UseCase, \(length.grouped)", lines: length, of: 20_000) { length, client in
          let operation = Twice().execute(1)
          for _ in 0..<length { operation.then { client.take($0) } }
        },
      ]
    })

  /// The memory that stays allocated.
  static let memory = Scenario(
    name: "memory",
    unit: .bytes,
    rounds: 7,
    contestants: [
      Contestant("Task that waits", isBare: true, bytesOf: 10_000) { count, client, measure in
        let gate = Gate()
        for number in 0..<count {
          Task {
            await gate.pass()
            client.take(number)
          }
        }
        measure()
        gate.open()
      },
      Contestant("UseCase, waiting with a then", .cost(1_800), bytesOf: 10_000) {
        count, client, measure in
        let useCase = Twice(queue: UseCaseQueue(.serial))
        useCase.queue.suspend()
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
        measure()
        useCase.queue.resume()
      },
      Contestant("Task that has finished", isBare: true, bytesOf: 10_000) {
        count, client, measure in
        let tasks = (0..<count).map { number in
          Task {
            client.take(number)
            return twice(number)
          }
        }
        client.wait()
        withExtendedLifetime(tasks, measure)
      },
      Contestant("UseCase, finished", bytesOf: 10_000) { count, client, measure in
        let useCase = Twice()
        let operations = (0..<count).map { useCase.execute($0).then { client.take($0) } }
        client.wait()
        withExtendedLifetime(operations, measure)
      },
      .entry,
      .keyedEntry,
    ])
}

extension Contestant {
  /// Starts `count` operations in lines of `length`, one line after the other.
  init(
    _ name: String, isBare: Bool = false, _ target: Target? = nil, lines length: Int,
    of count: Int, start: @escaping @Sendable (_ length: Int, _ client: Client) -> Void
  ) {
    self.init(name: name, isBare: isBare, target: target) { scale in
      let lines = max(1, scale(count) / length)
      let length = min(length, scale(count))
      var nanoseconds = 0.0
      for _ in 0..<lines { nanoseconds += time(length, start) }
      return nanoseconds / Double(lines * length)
    }
  }

  /// Lets many operations of five priorities wait in a queue, and then go one by one.
  fileprivate static func line(
    _ name: String, isBare: Bool = false, _ policy: UseCaseQueue.Policy
  ) -> Self {
    Contestant(name, isBare: isBare, count: 100_000) { count, client in
      let priorities: [TaskPriority] = [9, 17, 21, 25, 33].map(TaskPriority.init(rawValue:))
      let useCase = Twice(queue: UseCaseQueue(policy))
      useCase.queue.suspend()
      for number in 0..<count {
        useCase.execute(number, priority: priorities[number % 5]).then { client.take($0) }
      }
      useCase.queue.resume()
    }
  }

  /// Starts `count` operations, and counts the bytes that are allocated then.
  init(
    _ name: String, isBare: Bool = false, _ target: Target? = nil, bytesOf count: Int,
    start: @escaping @Sendable (_ count: Int, _ client: Client, _ measure: () -> Void) -> Void
  ) {
    self.init(name: name, isBare: isBare, target: target) { scale in
      let count = scale(count)
      var bytes = 0
      _ = time(count) { count, client in
        let before = allocatedBytes()
        start(count, client) { bytes = allocatedBytes() - before }
      }
      return Double(bytes) / Double(count)
    }
  }
}

/// Returns how much is allocated once nothing runs any more.
func allocatedBytes() -> Int {
  var bytes = counting_malloc_bytes()
  var isStill = false
  while !isStill {
    _ = time(1) { _, client in Task(priority: .background) { client.take(0) } }
    let now = counting_malloc_bytes()
    isStill = now == bytes
    bytes = now
  }
  return bytes
}
