import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct EndsAndReasonsTests {
  private let log = Log<String>()

  @Test(.holds("Refused at once"))
  func `a dropped operation has its outcome when execute returns`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    let refused = held.execute(2)
    #expect(refused.cancellation == .dropped)
    #expect(refused.state == .finished)
    held.open(1)
    await allEnded([running, refused])
  }

  @Test(.holds("dropWhileBusy"))
  func `a dropped operation calls onCancel and finally once, then and catch never`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    await held.execute(2).record(in: log).ended()
    held.open(1)
    await running.ended()
    #expect(log.elements == ["onCancel dropped", "finally"])
  }

  @Test(.holds("keepLatest"))
  func `an operation that loses the waiting place of keepLatest never starts`() async {
    let held = Held(.keepLatest)
    let operations = [held.execute(1), held.execute(2).record(in: log), held.execute(3)]
    #expect(operations[1].cancellation == .superseded)
    await operations[1].ended()
    #expect(log.elements == ["onCancel superseded", "finally"])
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3])
  }

  @Test(.holds("Superseded while waiting"))
  func `an operation that still waits under cancelPreviousAndWait is superseded by the next`()
    async
  {
    let held = Held(.cancelPreviousAndWait)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    let operations = [first, held.execute(2).record(in: log), held.execute(3)]
    #expect(operations[1].cancellation == .superseded)
    await operations[1].ended()
    #expect(log.elements == ["onCancel superseded", "finally"])
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3])
  }

  @Test func `an operation cancelled before it starts is cancelled as requested`() async {
    let held = Held(.serial)
    let operations = [held.execute(1), held.execute(2).record(in: log)]
    operations[1].cancel()
    #expect(operations[1].cancellation == .requested)
    await operations[1].ended()
    held.open(1...2)
    await allEnded(operations)
    #expect(log.elements == ["onCancel requested", "finally"])
    #expect(held.begun.elements == [1])
  }

  @Test(.holds("Twice or late"))
  func `the first of two reasons stays`() async {
    let held = Held(.cancelPrevious)
    let requestedFirst = held.execute(1)
    requestedFirst.cancel()
    let supersededFirst = held.execute(2)
    let last = held.execute(3)
    supersededFirst.cancel()
    held.queue.cancelAll()
    held.open(1...3)
    await allEnded([requestedFirst, supersededFirst, last])
    #expect(fates([requestedFirst, supersededFirst, last]) == "CSC")
  }

  @Test(.holds("Twice or late"), arguments: [true, false])
  func `cancelling when everything has run changes nothing`(fails: Bool) async {
    let useCase = AnyUseCase { (number: Int) in
      if fails { throw Refused() }
      return number
    }
    let operation = useCase.execute(1).record(in: log)
    await operation.ended()
    let before = log.elements
    operation.cancel()
    await operation.ended()
    #expect(log.elements == before)
    #expect(operation.fate == (fails ? "F" : "+"))
  }

  @Test(.holds("While running"))
  func `a cancelled operation whose body returns a value stays cancelled`() async {
    let held = Held()
    let operation = held.execute(1).record(in: log)
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    held.open(1)
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(log.elements == ["onCancel requested", "finally"])
    #expect(held.queue.activity.succeeded == 0)
  }

  @Test(.holds("While running"))
  func `a cancelled operation whose body throws while it cleans up has not failed`() async {
    let gate = Gate()
    let queue = UseCaseQueue()
    let useCase = AnyUseCase(queue: queue) { (_: Int) -> Int in
      await gate.passIgnoringCancellation()
      throw Refused()
    }
    let operation = useCase.execute(1).record(in: log)
    operation.cancel()
    gate.open()
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(log.elements == ["onCancel requested", "finally"])
    #expect([queue.activity.failed, queue.activity.cancelled] == [0, 1])
  }

  @Test func `a body that cancels all of its own queue is cancelled`() async {
    let queue = UseCaseQueue(.serial)
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      queue.cancelAll()
      return number
    }
    let operation = useCase.execute(1).record(in: log)
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test func `a Void response and a nil response are successes`() async {
    let nothing = AnyUseCase { (_: Void) in }.execute()
      .then { [log] in log.append("then void") }
    await nothing.ended()
    let none = AnyUseCase { (_: Int) in Int?.none }.execute(1)
      .then { [log] response in log.append("then \(response == nil)") }
    await none.ended()
    #expect(log.elements == ["then void", "then true"])
    #expect(none.fate == "+")
    if case .success = nothing.outcome {} else { Issue.record("no success") }
  }
}
