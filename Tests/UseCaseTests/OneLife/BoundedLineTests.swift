import TestSupport
import Testing
import UseCase

/// A line without a place is a bounded line like any other.
@Suite(.mustEnd)
struct BoundedLineTests {
  @Test func `a line without a place may get places later`() async {
    let held = Held(UseCaseQueue.Policy.limit(1, waiting: 0).waiting(atMost: 2))
    let operations = held.executeFirst(4)
    #expect(fates(operations) == "RWWD")
    held.open(1...3)
    await allEnded(operations)
  }

  @Test func `places may be taken from a line`() async {
    let held = Held(UseCaseQueue.Policy.limit(2, waiting: 3).waiting(atMost: 0))
    let operations = held.executeFirst(4)
    #expect(fates(operations) == "RRDD")
    held.open(1...2)
    await allEnded(operations)
  }

  @Test func `the parts of a line without a place come in any order`() {
    let serial = UseCaseQueue.Policy.serial
    #expect(serial.waiting(atMost: 0).byPriority == serial.byPriority.waiting(atMost: 0))
    #expect(
      serial.waiting(atMost: 0).byPriority.waiting(atMost: 3)
        == serial.byPriority.waiting(atMost: 3))
    #expect(serial.waiting(atMost: 0) == .limit(1, waiting: 0))
    #expect(serial.waiting(atMost: 0).waiting(atMost: 0) == .limit(1, waiting: 0))
    let spaced = serial.waiting(atMost: 0).spaced(by: .seconds(1))
    #expect(spaced == serial.spaced(by: .seconds(1)).waiting(atMost: 0))
  }

  @Test func `a suspended line without a place admits as many as have slots`() async {
    let held = Held(UseCaseQueue.Policy.limit(2).waiting(atMost: 0).byPriority)
    held.queue.suspend()
    let operations = held.executeFirst(3)
    #expect(fates(operations) == "WWD")
    held.queue.resume()
    #expect(fates(operations) == "RRD")
    held.open(1...2)
    await allEnded(operations)
  }

  @Test func `a line by priority without a place refuses also what is urgent`() async {
    let held = Held(UseCaseQueue.Policy.serial.byPriority.waiting(atMost: 0))
    let first = held.execute(1, priority: .low)
    let urgent = held.execute(2, priority: .high)
    #expect(fates([first, urgent]) == "RD")
    held.open(1)
    await first.ended()
  }
}
