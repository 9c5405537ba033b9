import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct SuspensionTests {
  @Test func `a queue knows whether it is suspended`() {
    let queue = UseCaseQueue(.serial)
    #expect(!queue.isSuspended)
    queue.suspend()
    queue.suspend()
    #expect(queue.isSuspended)
    queue.resume()
    #expect(!queue.isSuspended)
    queue.resume()
    #expect(!queue.isSuspended)
  }

  @Test(
    .holds("limit(_:waiting:)", "Policies apply"),
    arguments: [
      (UseCaseQueue.Policy.unlimited, "WWWWW", "RRRRR"),
      (.serial, "WWWWW", "RWWWW"),
      (.limit(2), "WWWWW", "RRWWW"),
      (.cancelPrevious, "SSSSW", "SSSSR"),
      (.init(limit: 2, whenBusy: .cancelPrevious), "SSSWW", "SSSRR"),
      (.cancelPreviousAndWait, "SSSSW", "SSSSR"),
      (.dropWhileBusy, "WDDDD", "RDDDD"),
      (.init(limit: 2, whenBusy: .drop), "WWDDD", "RRDDD"),
      (.limit(2, waiting: 1), "WWWDD", "RRWDD"),
      (.keepLatest, "SSSSW", "SSSSR"),
      (.throttle(.seconds(1)), "SSSSW", "SSSSR"),
      (.init(limit: 2, whenBusy: .keepLatest), "SSSSW", "SSSSR"),
    ])
  func `a policy holds while suspended, and resume starts what may start`(
    policy: UseCaseQueue.Policy, suspended: String, resumed: String
  ) async {
    let held = Held(policy)
    held.queue.suspend()
    let operations = held.executeFirst(5)
    #expect(fates(operations) == suspended)
    #expect(held.queue.activity.waiting == suspended.count { $0 == "W" })
    held.queue.resume()
    #expect(fates(operations) == resumed)
    held.open(1...5)
    await allEnded(operations)
    #expect(held.begun.count == suspended.count { $0 == "W" })
  }

  @Test(.holds("Already running"))
  func `a running operation goes on while suspended, and its slot stays free`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    held.queue.suspend()
    held.open(1)
    // The queue has decided what starts in the free slot before `ended()` returns.
    await operations[0].ended()
    #expect(fates(operations) == "+W")
    #expect(held.queue.activity.running == 0)
    held.queue.resume()
    #expect(fates(operations) == "+R")
    held.open(2)
    await allEnded(operations)
  }

  @Test
  func `an incoming operation supersedes the running one of a suspended queue`()
    async
  {
    let held = Held(.cancelPrevious)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    held.queue.suspend()
    let operations = [first, held.execute(2)]
    #expect(fates(operations) == "SW")
    held.queue.resume()
    #expect(fates(operations) == "SR")
    held.open(1...2)
    await allEnded(operations)
  }

  @Test(.holds("Cancelling"))
  func `cancel works at once on an operation that waits in a suspended queue`() async {
    let held = Held(.serial)
    held.queue.suspend()
    let operations = held.executeFirst(3)
    operations[0].cancel()
    await operations[0].ended()
    #expect(fates(operations) == "CWW")
    #expect(held.queue.activity.waiting == 2)
    held.queue.resume()
    #expect(fates(operations) == "CRW")
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [2, 3])
  }

  @Test(.holds("Idle queues"))
  func `idle does not wait for an operation that waits in a suspended queue`() async {
    let held = Held(.serial)
    held.open(1)
    held.queue.suspend()
    let operation = held.execute(1)
    await held.queue.idle()
    #expect(operation.fate == "W")
    held.queue.resume()
    await held.queue.idle()
    #expect(held.returned.elements == [1])
    await operation.ended()
  }

  @Test(.holds("Idle queues")) @MainActor
  func `idle waits for the handlers of operations that a suspended queue has cancelled`() async {
    let held = Held(.serial)
    held.queue.suspend()
    let handled = Log<UseCaseCancellation>()
    let operations = held.executeFirst(3).map { $0.onCancel { handled.append($0) } }
    held.queue.cancelAll()
    #expect(fates(operations) == "CCC" && handled.count == 0)
    await held.queue.idle()
    #expect(handled.elements == [.requested, .requested, .requested])
    #expect(held.queue.isSuspended)
  }

  @Test(.holds("Closed queues"), arguments: [UseCaseQueue.Policy.serial, .dropWhileBusy])
  func `a closed queue refuses what comes, and goes on with what is there`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    let first = held.execute(1)
    held.queue.close()
    let late = held.execute(2)
    #expect(fates([first, late]) == "RL" && held.queue.isClosed)
    held.open(1)
    await held.queue.idle()
    #expect(fates([first, held.execute(3)]) == "+L")
    await late.ended()
  }

  @Test func `a suspended queue may be suspended and resumed from its own bodies`() async {
    let held = Held(.serial)
    let useCase = AnyUseCase(queue: held.queue) { (number: Int) in
      held.queue.suspend()
      return number
    }
    let operations = [useCase.execute(1), held.execute(2)]
    await operations[0].ended()
    #expect(fates(operations) == "+W")
    held.queue.resume()
    held.open(2)
    await allEnded(operations)
  }
}
