import Synchronization
import UseCase

extension Scenario {
  /// Each cancels the one before of its key, of ten thousand keys.
  static let lanes = Scenario(
    name: "lanes: storm over 10,000 keys",
    contestants: [
      Contestant("dictionary of tasks", isBare: true, count: 30_000) { count, client in
        let tasks = TasksByKey()
        for number in 0..<count {
          tasks.replace(number % 10_000) { client.take(Task.isCancelled ? 0 : twice(number)) }
        }
      },
      Contestant("UseCaseLanes", count: 30_000) { count, client in
        let useCase = TwiceByKey()
        for number in 0..<count { useCase.execute(number).finally { client.take(number) } }
      },
    ])

  /// Ten ask for the same while it waits.
  static let shared = Scenario(
    name: "shared: ten equal requests",
    contestants: [
      Contestant("ten runs", isBare: true, count: 5_000) { count, client in
        executeTenEach(Twice(queue: UseCaseQueue()), count, client)
      },
      Contestant("ten riders on one run", count: 5_000) { count, client in
        executeTenEach(Twice(queue: UseCaseQueue()).shared(), count, client)
      },
    ])

  private static func executeTenEach(
    _ useCase: some UseCase<Int, Int>, _ count: Int, _ client: Client
  ) {
    useCase.queue.suspend()
    for number in 0..<count { useCase.execute(number / 10).then { client.take($0) } }
    useCase.queue.resume()
  }
}

private struct TwiceByKey: UseCase {
  let lanes = UseCaseLanes<Int>(.cancelPrevious)

  func queue(for number: Int) -> UseCaseQueue { lanes[number % 10_000] }
  func main(_ number: Int) async throws -> Int { twice(number) }
}

/// The least that cancels the task before of the same key, and keeps no key of a task that is over.
private final class TasksByKey: Sendable {
  private let tasks = Mutex<[Int: (number: Int, task: Task<Void, Never>)]>([:])
  private let last = Atomic(0)

  func replace(_ key: Int, _ body: @escaping @Sendable () -> Void) {
    let number = last.add(1, ordering: .relaxed).newValue
    let task = Task {
      body()
      tasks.withLock { if $0[key]?.number == number { $0[key] = nil } }
    }
    tasks.withLock { $0.updateValue((number, task), forKey: key) }?.task.cancel()
  }
}
