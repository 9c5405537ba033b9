import TestSupport
import Testing
import UseCase

/// A closed queue refuses what comes, and goes on with what is there.
@Suite(.mustEnd)
struct CloseTests {
  private let log = Log<String>()

  @Test(arguments: policiesWithOneSlot + [.unlimited, .limit(2), .throttle(.seconds(1))])
  func `what comes is cancelled as closed before execute returns`(
    policy: UseCaseQueue.Policy
  ) async {
    let events = Log<String>()
    let queue = UseCaseQueue(policy) { events.append("\($0.kind)") }
    let held = Held(on: queue)
    #expect(!queue.isClosed)
    queue.close()
    queue.close()
    #expect(queue.isClosed)
    let refused = held.execute(1)
    #expect(refused.cancellation == .closed && refused.state == .finished)
    #expect(events.elements == ["cancelled(UseCase.UseCaseCancellation.closed)", "ended"])
    #expect(queue.activity == UseCaseActivity(cancelled: 1))
    await refused.record(in: log).ended()
    #expect(log.elements == ["onCancel closed", "finally"])
    #expect(held.begun.count == 0)
    await queue.idle()
  }

  @Test func `what is there goes on, running or waiting`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(3)
    held.queue.close()
    let refused = held.execute(4)
    #expect(fates(operations + [refused]) == "RWWL")
    held.open(1...3)
    await held.queue.idle()
    #expect(fates(operations) == "+++" && held.begun.elements == [1, 2, 3])
  }

  @Test func `close, flush and idle are a graceful end`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)), clock: clock)
    let held = Held(on: queue)
    held.open(1...3)
    let operations = held.executeFirst(3)
    queue.close()
    queue.flush()
    await queue.idle()
    #expect(fates(operations) == "SS+" && held.begun.elements == [3])
    #expect(held.execute(4).fate == "L")
  }

  @Test(arguments: [true, false])
  func `a closed queue refuses, suspended or busy or not`(isSuspended: Bool) async {
    for policy in policiesWithOneSlot {
      let held = Held(policy)
      let first = held.execute(1)
      if isSuspended { held.queue.suspend() }
      held.queue.close()
      // It neither drops nor supersedes.
      #expect(fates([first, held.execute(2), held.execute(3)]) == "RLL")
      held.open(1)
      await first.ended()
      #expect(first.fate == "+")
      #expect(held.execute(4).fate == "L")
    }
  }

  @Test func `cancelAll and close empty a suspended queue for good`() async {
    let held = Held(.limit(2))
    let running = held.execute(1)
    held.queue.suspend()
    let waiting = [2, 3].map { held.execute($0) }
    held.queue.cancelAll()
    held.queue.close()
    held.open(1)
    await held.queue.idle()
    #expect(fates([running] + waiting) == "CCC")
    held.queue.resume()
    #expect(held.execute(4).fate == "L")
    #expect(!held.queue.isBusy)
  }

  @Test func `what waits in a suspended and closed queue runs when it resumes`() async {
    let held = Held(.serial)
    held.queue.suspend()
    let operations = held.executeFirst(2)
    held.queue.close()
    held.queue.resume()
    held.open(1...2)
    await held.queue.idle()
    #expect(fates(operations) == "++")
  }

  @Test func `calls inside a held slot still run`() async throws {
    let held = Held(.serial)
    held.open(2...3)
    let outer = AnyUseCase(queue: held.queue) { (number: Int) in
      held.queue.close()
      let executed = held.execute(3)
      return try await held(number + 1) + (executed.fate == "L" ? 100 : 0)
    }
    #expect(try await outer.execute(1).value == 102)
    #expect(held.begun.elements == [2])
  }

  @Test func `a call of a closed queue throws, and its outcome says why`() async {
    let held = Held()
    held.queue.close()
    await #expect(throws: CancellationError.self) { try await held(1) }
    let outcome = await held.outcome(of: 1)
    guard case .cancelled(.closed) = outcome else {
      return #expect(Bool(false), "closed, but \(outcome)")
    }
    await #expect(throws: CancellationError.self) { try await held.execute(1).value }
    #expect(held.begun.count == 0)
  }

  @Test func `a body that ends with a closed call is cancelled as closed`() async {
    let closed = Held()
    closed.queue.close()
    let outer = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in try await closed(number) }
    let operation = outer.execute(1)
    await operation.ended()
    #expect(operation.cancellation == .closed)
  }

  @Test func `a handler finds its queue closed, too`() async {
    let held = Held(.serial)
    let again = Log<Operation>()
    let first = held.execute(1).then { _ in again.append(held.execute(2)) }
    held.queue.close()
    held.open(1)
    await first.ended()
    #expect(fates([first] + again.elements) == "+L")
  }

  @Test func `a handler may close its queue`() async {
    let held = Held(.serial)
    let first = held.execute(1).then { _ in held.queue.close() }
    let second = held.execute(2)
    held.open(1...2)
    await allEnded([first, second])
    #expect(fates([first, second]) == "++" && held.execute(3).fate == "L")
  }

  @Test func `a reaction hears of what was refused`() async {
    let reactions = UseCaseReactions()
    let held = Held(on: UseCaseQueue(reactions: reactions))
    reactions.to(Held.self) { [log] operation in _ = operation.record(in: log) }
    held.queue.close()
    await held.execute(1).ended()
    #expect(log.elements == ["onCancel closed", "finally"])
  }

  @Test @MainActor func `a model does not run what is refused`() async {
    let held = Held()
    held.queue.close()
    let model = UseCaseModel(held)
    let operation = model.execute(1)
    #expect(!model.isRunning)
    await operation.ended()
    #expect(model.value == nil && model.error == nil)
  }

  @Test func `riders of a run that is refused are cancelled as closed`() async {
    let held = Held()
    held.queue.close()
    let shared = held.shared()
    let riders = [shared.execute(1), shared.execute(1)]
    await allEnded(riders)
    #expect(fates(riders) == "LL")
  }

  @Test func `another execution in a closed lane is refused, and in another lane it runs`() async {
    let lanes = UseCaseLanes<Int>()
    let (first, second) = (lanes[1], lanes[2])
    first.close()
    #expect(first.isClosed && !second.isClosed && !lanes.isClosed)
    let held = Held()
    held.open(1...2)
    let refused = AnyUseCase(queue: first) { (number: Int) in await held.main(number) }.execute(1)
    let running = AnyUseCase(queue: second) { (number: Int) in await held.main(number) }.execute(2)
    await allEnded([refused, running])
    #expect(fates([refused, running]) == "L+")
  }

  @Test func `in races each operation runs or is refused, and idle means that all is over`() async {
    for round in 1...300 {
      let queue = UseCaseQueue(.limit(2))
      let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
      let ran = Watched(0)
      let operations = await withTaskGroup { group in
        for _ in 1...3 {
          group.addTask {
            (1...5).map { number in
              useCase.execute(number).finally { ran.update { $0 += 1 } }
            }
          }
        }
        group.addTask {
          for _ in 0..<round % 7 { await Task.yield() }
          queue.close()
          return [useCase.execute(0)]
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      await queue.idle()
      let ends = fates(operations)
      #expect(ends.allSatisfy { $0 == "+" || $0 == "L" } && ends.contains("L"))
      #expect(queue.activity.executed == 16 && queue.activity.isIdle)
      await allEnded(operations)
      #expect(ran.value == 15)
    }
  }
}
