import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct ActivitiesTests {
  @Test(.holds("Busy"))
  func `a queue is busy until the last body has returned`() async {
    let held = Held(.cancelPrevious)
    #expect(!held.queue.isBusy)
    var operations = [held.execute(1)]
    await held.begun.elements(atLeast: 1)
    operations.append(held.execute(2))
    await held.begun.elements(atLeast: 2)
    operations[1].cancel()
    #expect(operations.allSatisfy { $0.state == .finished } && held.queue.isBusy)
    held.open(2)
    await operations[1].ended()
    #expect(held.queue.isBusy)
    held.open(1)
    await operations[0].ended()
    #expect(!held.queue.isBusy)
  }

  @Test func `a queue is busy while something waits, though nothing runs`() async {
    let held = Held(.serial)
    held.queue.suspend()
    let operation = held.execute(1)
    #expect(held.queue.isBusy)
    operation.cancel()
    #expect(!held.queue.isBusy)
  }

  @Test(.holds("Busy"))
  func `activities begin with the present one, and tell each change that is awaited`() async {
    let held = Held(.serial)
    let first = held.execute(1)
    var activities = held.queue.activities().makeAsyncIterator()
    #expect(await activities.next() == UseCaseActivity(running: 1))
    let second = held.execute(2)
    #expect(await activities.next() == UseCaseActivity(running: 1, waiting: 1))
    second.cancel()
    #expect(await activities.next() == UseCaseActivity(running: 1, cancelled: 1))
    held.open(1)
    await first.ended()
    #expect(await activities.next() == UseCaseActivity(succeeded: 1, cancelled: 1))
    held.open(3)
    await held.execute(3).ended()
    #expect(await activities.next() == UseCaseActivity(succeeded: 2, cancelled: 1))
  }

  @Test(.holds("Busy"))
  func `a slow reader sees the newest activity`() async {
    let held = Held(.serial)
    var activities = held.queue.activities().makeAsyncIterator()
    #expect(await activities.next() == UseCaseActivity())
    held.open(1...100)
    await allEnded(held.executeFirst(100))
    #expect(await activities.next() == UseCaseActivity(succeeded: 100))
  }

  @Test func `what changes nothing is not told`() async {
    let held = Held(.serial)
    var activities = held.queue.activities().makeAsyncIterator()
    #expect(await activities.next() == UseCaseActivity())
    held.queue.suspend()
    held.queue.resume()
    held.queue.cancelAll()
    let operation = held.execute(1)
    #expect(await activities.next() == UseCaseActivity(running: 1))
    operation.cancel()
    held.open(1)
    await operation.ended()
    #expect(await activities.next() == UseCaseActivity(cancelled: 1))
  }

  @Test(.holds("Busy"))
  func `every reader sees the last activity, and none goes back`() async {
    let queue = UseCaseQueue(.limit(2))
    let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
    let readers = (1...4).map { _ in
      Task {
        var seen: [UseCaseActivity] = []
        for await activity in queue.activities() {
          seen.append(activity)
          if activity.succeeded == 2_000 { break }
        }
        return seen
      }
    }
    await withTaskGroup { group in
      for _ in 1...8 {
        group.addTask { for number in 1...250 { await useCase.execute(number).ended() } }
      }
    }
    for reader in readers {
      let seen = await reader.value
      #expect(seen.last == UseCaseActivity(succeeded: 2_000))
      #expect(seen.map(\.executed) == seen.map(\.executed).sorted())
      #expect(seen.map(\.succeeded) == seen.map(\.succeeded).sorted())
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
      #expect(seen.allSatisfy { $0.running <= 2 })
    }
  }

  @Test(.holds("Busy"))
  func `activities end when the queue goes away`() async {
    var queue = Optional(UseCaseQueue())
    let isReading = Gate()
    let reader = Task { [activities = queue?.activities()] in
      guard let activities else { return 0 }
      var count = 0
      for await _ in activities {
        count += 1
        isReading.open()
      }
      return count
    }
    await isReading.passIgnoringCancellation()
    queue = nil
    #expect(await reader.value == 1)
  }

  @Test func `a reader that is cancelled stops, and the others go on`() async {
    let held = Held()
    let isReading = Gate()
    let cancelled = Task {
      for await _ in held.queue.activities() { isReading.open() }
      return Task.isCancelled
    }
    await isReading.passIgnoringCancellation()
    var activities = held.queue.activities().makeAsyncIterator()
    #expect(await activities.next() == UseCaseActivity())
    cancelled.cancel()
    #expect(await cancelled.value)
    let operation = held.execute(1)
    #expect(await activities.next() == UseCaseActivity(running: 1))
    held.open(1)
    await operation.ended()
    #expect(await activities.next() == UseCaseActivity(succeeded: 1))
  }

  @Test func `a stream that nobody reads does not keep its queue`() {
    weak var weakQueue: UseCaseQueue?
    do {
      let queue = UseCaseQueue()
      weakQueue = queue
      _ = queue.activities()
      var activities = Optional(queue.activities())
      #expect(activities != nil)
      activities = nil
    }
    #expect(weakQueue == nil)
  }
}
