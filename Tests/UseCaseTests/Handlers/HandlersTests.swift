import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct HandlersTests {
  private let log = Log<String>()
  private let double = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in number * 2 }

  private actor Desk {
    let log: Log<String>

    init(log: Log<String>) {
      self.log = log
    }

    func attach(_ name: String, to operation: Operation) {
      operation.then { _ in
        self.preconditionIsolated()
        self.log.append(name)
      }
    }
  }

  private nonisolated func attachOnNoActor(_ name: String, to operation: Operation) {
    operation.then { [log] _ in log.append(isOnMainActor() ? "on the main actor" : name) }
  }

  @Test(.holds("Order of handlers", "Isolation of handlers")) @MainActor
  func `the order of attaching holds across isolations, each handler on its own`() async {
    let held = Held()
    let desk = Desk(log: log)
    let operation = held.execute(1)
    for round in 1...20 {
      operation.then { [log] _ in log.append(isOnMainActor() ? "main \(round)" : "on no actor") }
      attachOnNoActor("none \(round)", to: operation)
      await desk.attach("desk \(round)", to: operation)
    }
    held.open(1)
    await operation.ended()
    let expected = (1...20).flatMap { ["main \($0)", "none \($0)", "desk \($0)"] }
    #expect(log.elements == expected)
  }

  @Test(.holds("Order of handlers"))
  func `handlers run one at a time`() async {
    let (held, crowd) = (Held(), Crowd())
    let operation = held.execute(1)
    await withTaskGroup { group in
      for _ in 1...100 {
        group.addTask {
          operation.finally {
            crowd.enter()
            crowd.leave()
          }
        }
        group.addTask { @MainActor in
          operation.finally {
            crowd.enter()
            crowd.leave()
          }
        }
      }
    }
    held.open(1)
    await operation.ended()
    #expect(crowd.peak == 1)
    #expect(crowd.now == 0)
  }

  @Test(.holds("Attached late")) @MainActor
  func `a handler attached after the outcome runs after the earlier ones`() async {
    let operation = double.execute(1)
    operation.then { [log] _ in log.append("early") }
    holdThread { operation.state == .finished }
    attachOnNoActor("late", to: operation)
    #expect(log.elements.isEmpty)
    await operation.ended()
    #expect(log.elements == ["early", "late"])
  }

  @Test(.holds("At most once"))
  func `each handler runs once however many threads attach while the operation ends`() async {
    for _ in 1...50 {
      let (held, counts) = (Held(), Watched(Array(repeating: 0, count: 80)))
      let operation = held.execute(1)
      await withTaskGroup { group in
        for worker in 0..<8 {
          group.addTask {
            for number in 0..<10 {
              if worker == 0, number == 5 { held.open(1) }
              operation.finally { counts.update { $0[worker * 10 + number] += 1 } }
            }
          }
        }
      }
      await operation.ended()
      #expect(counts.value == Array(repeating: 1, count: 80))
    }
  }

  @Test(.holds("Free to call anything"))
  func `a handler may attach handlers, which run after the present ones and not inside it`() async {
    let held = Held()
    let operation = held.execute(1)
    operation.then { [log, operation] _ in
      log.append("outer begins")
      operation.then { _ in log.append("inner") }
      log.append("outer ends")
    }
    operation.common { [log] in log.append("common") }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["outer begins", "outer ends", "common", "inner"])
  }

  @Test(.holds("Free to call anything"))
  func `a handler may execute, cancel, suspend and resume on its own queue`() async {
    let held = Held(.serial)
    let made = Log<Operation>()
    let operations = held.executeFirst(3)
    operations[0].then { _ in
      operations[2].cancel()
      held.queue.suspend()
      made.append(held.execute(4))
      held.queue.resume()
      operations[0].cancel()
      made.append(held.execute(5))
    }
    held.open(1)
    await operations[0].ended()
    held.open(2...5)
    await allEnded(operations)
    await allEnded(made.elements)
    #expect(fates(operations + made.elements) == "++C++")
    #expect(held.begun.elements == [1, 2, 4, 5])
  }

  @Test func `a handler may cancel all of its own queue`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(3)
    operations[0].finally { held.queue.cancelAll() }
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+CC")
    held.open(2...3)
    await allEnded(operations)
  }

  @Test func `a handler of a cancelled operation may execute again`() async {
    let held = Held(.serial)
    let made = Log<Operation>()
    let operation = held.execute(1).onCancel { _ in made.append(held.execute(2)) }
    operation.cancel()
    held.open(1...2)
    await operation.ended()
    await allEnded(made.elements)
    #expect(fates(made.elements) == "+")
  }

  @Test(.holds("catch by type"))
  func `typed catches run in order with the others, and do not stop them`() async {
    struct Specific: Error {}
    await AnyUseCase { (_: Int) -> Int in throw Specific() }.execute(1)
      .catch { [log] _ in log.append("general 1") }
      .catch(Specific.self) { [log] _ in log.append("typed 1") }
      .catch(Offline.self) { [log] _ in log.append("offline") }
      .catch((any Error).self) { [log] _ in log.append("any") }
      .catch(Specific.self) { [log] _ in log.append("typed 2") }
      .ended()
    #expect(log.elements == ["general 1", "typed 1", "any", "typed 2"])
  }

  @Test func `ended also waits for handlers that were attached late`() async {
    let operation = double.execute(1)
    await operation.ended()
    for round in 1...100 {
      operation.then { [log] _ in log.append("\(round)") }
      await operation.ended()
      #expect(log.count == round)
    }
  }

  @Test(.holds("Cost of handlers"))
  func `the cost of many handlers is linear`() async {
    /// The cost of attaching so many handlers, and of running them, which happens without a pause.
    func cost(of count: Int) async -> Duration {
      var best = Duration.seconds(1_000)
      for _ in 1...3 {
        let (held, running) = (Held(), Watched((begin: Duration.zero, end: Duration.zero)))
        let operation = held.execute(1).then { _ in running.update { $0.begin = threadTime() } }
        let calls = Watched(0)
        let begin = threadTime()
        for _ in 1...count { operation.then { _ in calls.update { $0 += 1 } } }
        let end = threadTime()
        operation.then { _ in running.update { $0.end = threadTime() } }
        held.open(1)
        await operation.ended()
        best = min(best, end - begin + (running.value.end - running.value.begin))
        #expect(calls.value == count)
      }
      return best
    }
    // Eight times as many: a quadratic step would make it sixty-four times as long, each time. Other
    // processes share the caches, so a single comparison says little.
    var isLinear = false
    for _ in 1...5 where !isLinear {
      isLinear = await cost(of: 10_000) < cost(of: 1_250) * 24
    }
    #expect(isLinear)
  }
}
