import TestSupport
import Testing

@testable import UseCaseHistory

/// The parts of a group that is held open, as numbers: two parts, the end, and the body.
struct HeldPartsMachineTests {
  private typealias Machine = HeldPartsMachine<Int, Int>

  private enum Event: CaseIterable {
    case first, second, begin, end
  }

  private static func orders(of events: [Event]) -> [[Event]] {
    if events.isEmpty { return [[]] }
    return events.indices.flatMap { index in
      var rest = events
      let first = rest.remove(at: index)
      return orders(of: rest).map { [first] + $0 }
    }
  }

  /// Whatever comes first, the body hears once that the last part has ended, and no part is lost.
  @Test(.holds("The end of an open group"), arguments: [true, false])
  func `in every order the group ends once, and each part is run or cancelled`(
    isCancelled: Bool
  ) {
    for order in Self.orders(of: Event.allCases) {
      var machine = Machine()
      var (endings, cancelled, admitted) = (0, [Int](), [Int]())
      for event in order {
        switch event {
        case .first, .second:
          guard let number = machine.admit() else { continue }
          let ending = machine.admitted(number, number)
          admitted.append(number)
          cancelled += ending.cancels
          endings += ending.isLast ? 1 : 0
        case .begin: endings += machine.begin().isLast ? 1 : 0
        case .end:
          let ending = machine.close(as: isCancelled ? .cancelled : .closed, isForced: false)
          cancelled += ending.cancels
          endings += ending.isLast ? 1 : 0
        }
      }
      #expect(endings == 1 && machine.isCancelled == isCancelled)
      #expect(cancelled.sorted() == (isCancelled ? admitted : []))
      #expect(machine.admit() == nil)
      let again = machine.close(as: .cancelled, isForced: false)
      #expect(!again.isLast && again.cancels.isEmpty && machine.isCancelled == isCancelled)
      guard case .wait = machine.next(7) else {
        Issue.record("Parts may still come.")
        return
      }
      #expect(machine.hand(1) == 7)
      guard case .wait = machine.next(8) else {
        Issue.record("The part was handed over.")
        return
      }
      #expect(machine.finish() == 8)
      guard case .go(nil) = machine.next(9) else {
        Issue.record("All parts have ended.")
        return
      }
    }
  }

  @Test(.holds("The end of an open group"))
  func `a part on its way to its queue keeps the group from ending`() {
    var machine = Machine()
    _ = machine.begin()
    let number = machine.admit() ?? 0
    #expect(!machine.close(as: .cancelled, isForced: false).isLast)
    let ending = machine.admitted(number, 5)
    #expect(ending.isLast && ending.cancels == [5])
  }

  @Test(.holds("The end of an open group"))
  func `a part that has begun is not cancelled`() {
    var machine = Machine()
    _ = machine.begin()
    let numbers = [machine.admit() ?? 0, machine.admit() ?? 0]
    machine.start(numbers[0])
    for number in numbers { _ = machine.admitted(number, number) }
    #expect(machine.hand(1) == nil)
    guard case .go(1) = machine.next(7) else {
      Issue.record("A part waits for the body.")
      return
    }
    #expect(machine.close(as: .closed, isForced: false).cancels.isEmpty)
    #expect(machine.close(as: .cancelled, isForced: true).cancels == [numbers[1]])
  }

  @Test func `a part that was numbered first, and queued second, is cancelled`() {
    var machine = Machine()
    _ = machine.begin()
    let numbers = [machine.admit() ?? 0, machine.admit() ?? 0]
    machine.start(numbers[1])
    for number in numbers { _ = machine.admitted(number, number) }
    #expect(machine.close(as: .cancelled, isForced: false).cancels == [numbers[0]])
  }
}
