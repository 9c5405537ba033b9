import TestSupport
import Testing

@testable import UseCase

struct PolicyTests {
  typealias Policy = UseCaseQueue.Policy

  /// One line of the table: the state of the queue, and the fates of the incoming operation and of
  /// the others.
  struct Line: CustomTestStringConvertible, Sendable {
    let policy: Policy
    let (holding, live, waiting): (Int, Int, Int)
    let (isSuspended, isPausing): (Bool, Bool)
    let decision: (admission: Admission, superseded: Int)

    init(
      _ policy: Policy, _ holding: Int, _ live: Int, _ waiting: Int,
      suspended: Bool = false, pausing: Bool = false, _ admission: Admission, superseded: Int = 0
    ) {
      self.policy = policy
      (self.holding, self.live, self.waiting) = (holding, live, waiting)
      (isSuspended, isPausing) = (suspended, pausing)
      decision = (admission, superseded)
    }

    var testDescription: String {
      "\(policy.whenBusy), limit \(policy.limit), \(holding) hold, \(live) live, \(waiting) wait"
        + (isSuspended ? ", suspended" : "")
        + (isPausing ? ", pausing" : "")
    }
  }

  static let pair = Policy(limit: 2, whenBusy: .cancelPrevious)
  static let pairAndWait = Policy(limit: 2, whenBusy: .cancelPreviousAndWait)
  static let dropPair = Policy(limit: 2, whenBusy: .drop)
  static let latestPair = Policy(limit: 2, whenBusy: .keepLatest)
  static let line = Policy.limit(2, waiting: 3)
  static let leading = Policy.dropWhileBusy.spaced(by: .seconds(1))
  static let pacedLine = line.rate(2, per: .seconds(1))
  static let throttled = Policy.throttle(.seconds(1))
  static let debounced = Policy.cancelPrevious(debounce: .seconds(1))

  static let table = [
    Line(.unlimited, 0, 0, 0, .start),
    Line(.unlimited, 1_000_000, 1_000_000, 0, .start),
    Line(.unlimited, 3, 3, 4, suspended: true, .wait),

    Line(.serial, 0, 0, 0, .start),
    Line(.serial, 1, 1, 0, .wait),
    Line(.serial, 1, 0, 0, .wait),
    Line(.serial, 1, 1, 7, .wait),
    Line(.serial, 0, 0, 0, suspended: true, .wait),
    Line(.limit(3), 2, 2, 0, .start),
    Line(.limit(3), 3, 0, 0, .wait),

    Line(.cancelPrevious, 0, 0, 0, .start),
    Line(.cancelPrevious, 1, 1, 0, .start, superseded: 1),
    Line(.cancelPrevious, 1, 0, 0, .start),
    Line(.cancelPrevious, 5, 1, 0, .start, superseded: 1),
    Line(.cancelPrevious, 0, 0, 0, suspended: true, .wait),
    Line(.cancelPrevious, 1, 1, 0, suspended: true, .wait, superseded: 1),
    Line(.cancelPrevious, 1, 0, 1, suspended: true, .wait, superseded: 1),
    Line(pair, 1, 1, 0, .start),
    Line(pair, 2, 2, 0, .start, superseded: 1),
    Line(pair, 2, 1, 0, .start),
    Line(pair, 1, 1, 0, suspended: true, .wait),
    Line(pair, 1, 1, 1, suspended: true, .wait, superseded: 1),
    Line(pair, 1, 0, 2, suspended: true, .wait, superseded: 1),


    Line(debounced, 0, 0, 0, pausing: true, .wait),
    Line(debounced, 0, 0, 1, pausing: true, .wait, superseded: 1),
    Line(debounced, 1, 1, 0, pausing: true, .wait, superseded: 1),
    Line(debounced, 1, 0, 1, pausing: true, .wait, superseded: 1),

    Line(.cancelPreviousAndWait, 0, 0, 0, .start),
    Line(.cancelPreviousAndWait, 1, 1, 0, .wait, superseded: 1),
    Line(.cancelPreviousAndWait, 1, 0, 0, .wait),
    Line(.cancelPreviousAndWait, 1, 0, 1, .wait, superseded: 1),
    Line(.cancelPreviousAndWait, 0, 0, 1, suspended: true, .wait, superseded: 1),
    Line(pairAndWait, 1, 1, 0, .start),
    Line(pairAndWait, 2, 2, 0, .wait, superseded: 1),
    Line(pairAndWait, 2, 1, 0, .wait),
    Line(pairAndWait, 2, 1, 1, .wait, superseded: 1),
    Line(pairAndWait, 2, 0, 2, .wait, superseded: 1),

    Line(.dropWhileBusy, 0, 0, 0, .start),
    Line(.dropWhileBusy, 1, 1, 0, .refuse(.dropped)),
    Line(.dropWhileBusy, 1, 0, 0, .refuse(.dropped)),
    Line(.dropWhileBusy, 0, 0, 0, suspended: true, .wait),
    Line(.dropWhileBusy, 0, 0, 1, suspended: true, .refuse(.dropped)),
    Line(dropPair, 1, 1, 0, .start),
    Line(dropPair, 2, 1, 0, .refuse(.dropped)),
    Line(dropPair, 1, 1, 0, suspended: true, .wait),
    Line(dropPair, 1, 1, 1, suspended: true, .refuse(.dropped)),

    Line(line, 1, 1, 0, .start),
    Line(line, 2, 2, 0, .wait),
    Line(line, 2, 0, 2, .wait),
    Line(line, 2, 2, 3, .refuse(.dropped)),
    Line(line, 0, 0, 4, suspended: true, .wait),
    Line(line, 0, 0, 5, suspended: true, .refuse(.dropped)),
    Line(line, 1, 1, 3, suspended: true, .wait),
    Line(line, 1, 1, 4, suspended: true, .refuse(.dropped)),
    Line(.limit(.max, waiting: .max), 1_000_000, 0, 0, .start),
    Line(.limit(1, waiting: .max), 1, 1, 1_000_000, .wait),

    Line(leading, 0, 0, 0, .start),
    Line(leading, 0, 0, 0, pausing: true, .refuse(.dropped)),
    Line(leading, 0, 0, 0, suspended: true, pausing: true, .wait),
    Line(leading, 0, 0, 1, suspended: true, pausing: true, .refuse(.dropped)),
    Line(pacedLine, 1, 1, 2, pausing: true, .wait),
    Line(pacedLine, 1, 1, 3, pausing: true, .refuse(.dropped)),
    Line(pacedLine, 1, 1, 3, suspended: true, pausing: true, .wait),
    Line(pacedLine, 1, 1, 4, suspended: true, pausing: true, .refuse(.dropped)),
    Line(.serial.spaced(by: .seconds(1)), 0, 0, 9, pausing: true, .wait),

    Line(throttled, 0, 0, 0, .start),
    Line(throttled, 0, 0, 0, pausing: true, .wait),
    Line(throttled, 0, 0, 1, pausing: true, .wait, superseded: 1),
    // The pause is over, and the one that waits has not heard of it yet.
    Line(throttled, 0, 0, 1, .start, superseded: 1),
    Line(throttled, 1, 0, 1, .wait, superseded: 1),

    Line(.keepLatest, 0, 0, 0, .start),
    Line(.keepLatest, 1, 1, 0, .wait),
    Line(.keepLatest, 1, 0, 0, .wait),
    Line(.keepLatest, 1, 1, 1, .wait, superseded: 1),
    Line(.keepLatest, 0, 0, 0, suspended: true, .wait),
    Line(.keepLatest, 0, 0, 1, suspended: true, .wait, superseded: 1),
    Line(latestPair, 1, 1, 0, .start),
    Line(latestPair, 2, 2, 0, .wait),
    Line(latestPair, 2, 2, 1, .wait, superseded: 1),
  ]

  @Test(arguments: table)
  func `the state of the queue decides the fate of an incoming operation`(line: Line) {
    let decision = line.policy.decision(
      holding: line.holding, live: line.live, waiting: line.waiting,
      isSuspended: line.isSuspended, isPausing: line.isPausing)
    #expect(decision == line.decision)
  }

  @Test func `who waits may start when there is a slot`() {
    for policy in [
      Policy.serial, .cancelPreviousAndWait, .dropWhileBusy, .keepLatest, Self.throttled,
    ] {
      #expect(policy.mayStart(holding: 0))
      #expect(!policy.mayStart(holding: 1))
    }
    #expect(Policy.limit(3).mayStart(holding: 2))
    #expect(!Policy.limit(3).mayStart(holding: 3))
    #expect(Policy.unlimited.mayStart(holding: 1_000_000))
  }

  @Test func `only the policies that cancel the previous one let only the newest deliver`() {
    #expect(Policy.cancelPrevious.deliversOnlyNewest && Self.pairAndWait.deliversOnlyNewest)
    #expect(Self.debounced.deliversOnlyNewest)
    for policy in [Policy.unlimited, .serial, .dropWhileBusy, .keepLatest, Self.throttled] {
      #expect(!policy.deliversOnlyNewest)
    }
  }

  @Test func `who cancels the previous one starts beside it`() {
    #expect(Policy.cancelPrevious.mayStart(holding: 1))
    #expect(Self.debounced.mayStart(holding: 9))
  }

  @Test func `a policy is a value`() {
    #expect(Policy.serial == .limit(1))
    #expect(Policy.limit(2) == Policy(limit: 2, whenBusy: .wait))
    #expect(Policy.keepLatest != .dropWhileBusy)
    #expect(Policy.cancelPrevious == Policy(limit: 1, whenBusy: .cancelPrevious))
    #expect(Self.debounced != .cancelPrevious)
    #expect(Self.debounced == .cancelPrevious(debounce: .seconds(1)))
    #expect(Self.throttled != .throttle(.seconds(2)))
    #expect(Self.throttled != .keepLatest)
    #expect(Self.line != .limit(2))
    #expect(Self.line != .limit(2, waiting: 2))
  }

  @Test func `a policy that is a special case of another is that one`() {
    #expect(Policy.throttle(.zero) == .keepLatest)
    #expect(Policy.limit(1, waiting: 0) == .dropWhileBusy)
    #expect(Policy.limit(3, waiting: 0) == Policy(limit: 3, whenBusy: .drop))
  }

  @Test(.holds("Composition"))
  func `the policies with names of their own are made of the parts`() {
    let second = Duration.seconds(1)
    #expect(Policy.limit(2, waiting: 3) == .limit(2).waiting(atMost: 3))
    #expect(Policy.cancelPrevious(debounce: second) == .cancelPrevious.debounced(by: second))
    #expect(Policy.throttle(second) == .keepLatest.spaced(by: second))
    #expect(Policy.serial.spaced(by: second) == .serial.rate(1, per: second))
  }

  @Test(.holds("Composition"))
  func `the order of the parts makes no difference`() {
    let (second, two) = (Duration.seconds(1), Duration.seconds(2))
    let lines = [
      Policy.limit(2).waiting(atMost: 3).byPriority.rate(4, per: second),
      .limit(2).rate(4, per: second).byPriority.waiting(atMost: 3),
      .limit(2).byPriority.waiting(atMost: 3).rate(4, per: second),
    ]
    #expect(Set(lines).count == 1)
    #expect(
      Policy.keepLatest.debounced(by: second, atMost: two).spaced(by: two)
        == .keepLatest.spaced(by: two).debounced(by: second, atMost: two))
    #expect(Policy.limit(2).byPriority != .limit(2))
    #expect(
      Policy.keepLatest.debounced(by: second, atMost: two) != .keepLatest.debounced(by: second))
    #expect(Policy.serial.rate(2, per: second) != .serial.spaced(by: second))
  }

  @Test(.holds("Composition"))
  func `applied twice, the later part counts, and none of zero length`() {
    let second = Duration.seconds(1)
    #expect(Policy.serial.rate(3, per: .zero).rate(2, per: second) == .serial.rate(2, per: second))
    #expect(Policy.serial.rate(3, per: second).spaced(by: .zero) == .serial)
    #expect(
      Policy.keepLatest.debounced(by: second, atMost: second).debounced(by: second)
        == .keepLatest.debounced(by: second))
    #expect(
      Policy.keepLatest.debounced(by: second).debounced(by: .zero, atMost: second) == .keepLatest)
    #expect(Policy.serial.waiting(atMost: 4).waiting(atMost: 3) == .limit(1, waiting: 3))
    #expect(Policy.serial.byPriority.byPriority == .serial.byPriority)
    #expect(Policy.serial.byPriority.waiting(atMost: 0) == .serial.waiting(atMost: 0).byPriority)
  }

  @Test func `no pause is longer than clocks can sleep`() {
    let longest = Duration(attoseconds: .max)
    for policy in [
      Policy.throttle(longest), .cancelPrevious(debounce: longest), .serial.rate(1, per: longest),
      .keepLatest.debounced(by: longest, atMost: longest).spaced(by: longest),
    ] {
      var machine = QueueMachine<Int, Never, Never>(policy: policy)
      _ = machine.change(at: .seconds(1)) { $0.wake() }
      _ = machine.admit(1, id: .init(number: 1))
      _ = machine.admit(2, id: .init(number: 2))
      #expect(machine.nextAlarm()?.time == .seconds(1 + 100 * 365 * 86_400))
    }
  }

  #if os(Linux) || os(macOS)
    @Test func `a limit is at least 1`() async {
      let message = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        _ = Policy(limit: 0, whenBusy: .wait)
      }
      let text = String(decoding: message?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("at least 1 operation"))
      await #expect(processExitsWith: .failure) { _ = Policy.limit(-1) }
    }

    @Test(.holds("Composition"))
    func `what is less than nothing traps`() async {
      await #expect(processExitsWith: .failure) {
        _ = Policy.cancelPrevious(debounce: .nanoseconds(-1))
      }
      await #expect(processExitsWith: .failure) { _ = Policy.throttle(.nanoseconds(-1)) }
      await #expect(processExitsWith: .failure) { _ = Policy.serial.rate(0, per: .seconds(1)) }
      await #expect(processExitsWith: .failure) { _ = Policy.serial.rate(1, per: .seconds(-1)) }
      await #expect(processExitsWith: .failure) { _ = Policy.serial.waiting(atMost: -1) }
      await #expect(processExitsWith: .failure) {
        _ = Policy.keepLatest.debounced(by: .seconds(2), atMost: .seconds(1))
      }
    }

    @Test(.holds("Composition"))
    func `a line cannot be debounced, and the trap says what can`() async {
      let line = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Policy.serial.debounced(by: .seconds(1))
      }
      #expect(text(line).contains("take `.keepLatest.debounced(by:)`"))
      let drop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Policy.dropWhileBusy.debounced(by: .seconds(1))
      }
      #expect(text(drop).contains("`.dropWhileBusy.spaced(by:)`"))
      let pair = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Policy(limit: 2, whenBusy: .keepLatest).debounced(by: .seconds(1))
      }
      #expect(text(pair).contains("the limit must be 1, but it is 2"))
    }

    @Test(.holds("Composition"))
    func `a policy without a line has no order and no bound, and the trap says which has`() async {
      let drop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Policy.dropWhileBusy.byPriority
      }
      #expect(text(drop).contains("Take `.limit(1).waiting(atMost:)`"))
      let latest = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Policy.keepLatest.waiting(atMost: 2)
      }
      #expect(text(latest).contains("Take `.limit(1)`"))
      await #expect(processExitsWith: .failure) { _ = Policy.keepLatest.byPriority }
      await #expect(processExitsWith: .failure) { _ = Policy.cancelPrevious.byPriority }
      await #expect(processExitsWith: .failure) { _ = Policy.cancelPreviousAndWait.byPriority }
      await #expect(processExitsWith: .failure) { _ = Policy.throttle(.seconds(1)).byPriority }
      await #expect(processExitsWith: .failure) { _ = Policy.dropWhileBusy.waiting(atMost: 2) }
      await #expect(processExitsWith: .failure) { _ = Policy.cancelPrevious.waiting(atMost: 2) }
    }

    private func text(_ result: ExitTest.Result?) -> String {
      String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
  #endif
}
