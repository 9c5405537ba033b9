import Testing

@testable import UseCase

/// The three small machines of an operation, each alone.
struct OperationPartsTests {
  @Test func `a slot that is joined is free when the last body has left`() {
    var slot = SlotLife<Int>()
    slot.wait()
    #expect(slot.isWaiting && !slot.admitGuest())
    #expect(slot.park(7) == nil)
    #expect(slot.grant() == 7)
    slot.start()
    #expect(slot.isOccupied && slot.hasBegun)
    let (joined, first) = (slot.admitGuest(), slot.leave())
    #expect(joined && !first && slot.isOccupied)
    let last = slot.leave()
    #expect(last && !slot.isOccupied && slot.hasBegun && !slot.isReturned)
    slot.giveBack()
    #expect(slot.isReturned)
  }

  @Test func `a slot is not given back while a body runs in it, and no body begins without one`()
    async
  {
    await #expect(processExitsWith: .failure) {
      var slot = SlotLife<Int>()
      slot.start()
      slot.giveBack()
    }
    await #expect(processExitsWith: .failure) {
      var slot = SlotLife<Int>()
      slot.wait()
      slot.start()
    }
  }

  @Test func `events are told in order, each once, by one thread at a time`() {
    var line = EventLine(isObserved: true)
    line.announce(.outcome)
    line.announce(.running)
    line.announce(.running)
    #expect(line.begin() == nil)
    #expect(line.next() == .running)
    #expect(line.next() == .outcome)
    #expect(line.next() == nil)
    line.announce(.running)
    #expect(line.begin() == nil)
    line.announce(.ended)
    #expect(line.begin() == .ended)
  }

  @Test func `who does not tell cannot go on with it`() async {
    await #expect(processExitsWith: .failure) {
      var line = EventLine(isObserved: true)
      _ = line.next()
      _ = line.next()
    }
  }

  @Test func `one task at a time delivers, also after the end`() {
    var delivery = HandlerDelivery()
    let begins = [delivery.begin(), delivery.begin()]
    #expect(begins == [true, false] && delivery.isDelivering)
    delivery.pause()
    #expect(!delivery.isDelivering && !delivery.hasEnded)
    delivery.end()
    let late = delivery.begin()
    #expect(late && delivery.isDelivering && delivery.hasEnded)
    delivery.pause()
    #expect(!delivery.isDelivering && delivery.hasEnded)
  }

  @Test func `a cancellation silences what is on its way, and nothing when all has run`() {
    var delivery = HandlerDelivery()
    delivery.end()
    delivery.silence(.requested, after: .success)
    #expect(delivery.silence == nil)
    _ = delivery.begin()
    delivery.silence(.requested, after: .success)
    delivery.silence(.scopeEnded, after: .success)
    #expect(delivery.silence == .requested)
  }

  @Test func `a delivery that has not begun cannot pause`() async {
    await #expect(processExitsWith: .failure) {
      var delivery = HandlerDelivery()
      delivery.pause()
    }
  }
}
