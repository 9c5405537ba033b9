import Testing

@testable import UseCase

struct PolicyTests {
  typealias Policy = UseCaseQueue.Policy

  /// One line of the table: the state of the queue, and the fates of the incoming operation and of
  /// the others.
  struct Line: CustomTestStringConvertible, Sendable {
    let policy: Policy
    let (holding, live, waiting, undelivered, isHeldBack): (Int, Int, Int, Int, Bool)
    let decision: Policy.Decision

    init(
      _ policy: Policy, _ holding: Int, _ live: Int, _ waiting: Int, undelivered: Int = 0,
      heldBack: Bool = false, _ admission: Admission, superseded: Int = 0
    ) {
      self.policy = policy
      (self.holding, self.live, self.waiting, isHeldBack) = (holding, live, waiting, heldBack)
      self.undelivered = undelivered
      decision = Policy.Decision(admission: admission, superseded: superseded)
    }

    var testDescription: String {
      "\(policy.whenBusy), limit \(policy.limit), \(holding) hold, \(live) live, \(waiting) wait"
        + "\(undelivered) undelivered" + (isHeldBack ? ", held back" : "")
    }
  }

  static let pair = Policy(limit: 2, whenBusy: .cancelPrevious)
  static let pairAndWait = Policy(limit: 2, whenBusy: .cancelPreviousAndWait)
  static let dropPair = Policy(limit: 2, whenBusy: .drop)
  static let latestPair = Policy(limit: 2, whenBusy: .keepLatest)
  static let line = Policy.limit(2, waiting: 3)
  static let throttled = Policy.throttle(.seconds(1))
  static let debounced = Policy.cancelPrevious(debounce: .seconds(1))

  static let table = [
    Line(.unlimited, 0, 0, 0, .start),
    Line(.unlimited, 1_000_000, 1_000_000, 0, .start),
    Line(.unlimited, 3, 3, 4, heldBack: true, .wait),

    Line(.serial, 0, 0, 0, .start),
    Line(.serial, 1, 1, 0, .wait),
    Line(.serial, 1, 0, 0, .wait),
    Line(.serial, 1, 1, 7, .wait),
    Line(.serial, 0, 0, 0, heldBack: true, .wait),
    Line(.limit(3), 2, 2, 0, .start),
    Line(.limit(3), 3, 0, 0, .wait),

    Line(.cancelPrevious, 0, 0, 0, .start),
    Line(.cancelPrevious, 1, 1, 0, .start, superseded: 1),
    Line(.cancelPrevious, 1, 0, 0, .start),
    Line(.cancelPrevious, 5, 1, 0, .start, superseded: 1),
    Line(.cancelPrevious, 0, 0, 0, heldBack: true, .wait),
    Line(.cancelPrevious, 1, 1, 0, heldBack: true, .wait, superseded: 1),
    Line(.cancelPrevious, 1, 0, 1, heldBack: true, .wait, superseded: 1),
    Line(pair, 1, 1, 0, .start),
    Line(pair, 2, 2, 0, .start, superseded: 1),
    Line(pair, 2, 1, 0, .start),
    Line(pair, 1, 1, 0, heldBack: true, .wait),
    Line(pair, 1, 1, 1, heldBack: true, .wait, superseded: 1),
    Line(pair, 1, 0, 2, heldBack: true, .wait, superseded: 1),

    Line(.cancelPrevious, 0, 0, 0, undelivered: 1, .start, superseded: 1),
    Line(.cancelPrevious, 1, 1, 0, undelivered: 2, .start, superseded: 3),
    Line(pair, 0, 0, 0, undelivered: 1, .start),
    Line(pair, 1, 1, 0, undelivered: 1, .start, superseded: 1),
    Line(pair, 0, 0, 0, undelivered: 3, .start, superseded: 2),
    Line(pairAndWait, 2, 0, 0, undelivered: 2, .wait, superseded: 1),
    Line(debounced, 0, 0, 0, undelivered: 1, heldBack: true, .wait, superseded: 1),

    Line(debounced, 0, 0, 0, heldBack: true, .wait),
    Line(debounced, 0, 0, 1, heldBack: true, .wait, superseded: 1),
    Line(debounced, 1, 1, 0, heldBack: true, .wait, superseded: 1),
    Line(debounced, 1, 0, 1, heldBack: true, .wait, superseded: 1),

    Line(.cancelPreviousAndWait, 0, 0, 0, .start),
    Line(.cancelPreviousAndWait, 1, 1, 0, .wait, superseded: 1),
    Line(.cancelPreviousAndWait, 1, 0, 0, .wait),
    Line(.cancelPreviousAndWait, 1, 0, 1, .wait, superseded: 1),
    Line(.cancelPreviousAndWait, 0, 0, 1, heldBack: true, .wait, superseded: 1),
    Line(pairAndWait, 1, 1, 0, .start),
    Line(pairAndWait, 2, 2, 0, .wait, superseded: 1),
    Line(pairAndWait, 2, 1, 0, .wait),
    Line(pairAndWait, 2, 1, 1, .wait, superseded: 1),
    Line(pairAndWait, 2, 0, 2, .wait, superseded: 1),

    Line(.dropWhileBusy, 0, 0, 0, .start),
    Line(.dropWhileBusy, 1, 1, 0, .drop),
    Line(.dropWhileBusy, 1, 0, 0, .drop),
    Line(.dropWhileBusy, 0, 0, 0, heldBack: true, .wait),
    Line(.dropWhileBusy, 0, 0, 1, heldBack: true, .drop),
    Line(dropPair, 1, 1, 0, .start),
    Line(dropPair, 2, 1, 0, .drop),
    Line(dropPair, 1, 1, 0, heldBack: true, .wait),
    Line(dropPair, 1, 1, 1, heldBack: true, .drop),

    Line(line, 1, 1, 0, .start),
    Line(line, 2, 2, 0, .wait),
    Line(line, 2, 0, 2, .wait),
    Line(line, 2, 2, 3, .drop),
    Line(line, 0, 0, 4, heldBack: true, .wait),
    Line(line, 0, 0, 5, heldBack: true, .drop),
    Line(line, 1, 1, 3, heldBack: true, .wait),
    Line(line, 1, 1, 4, heldBack: true, .drop),
    Line(.limit(.max, waiting: .max), 1_000_000, 0, 0, .start),
    Line(.limit(1, waiting: .max), 1, 1, 1_000_000, .wait),

    Line(throttled, 0, 0, 0, .start),
    Line(throttled, 0, 0, 0, heldBack: true, .wait),
    Line(throttled, 0, 0, 1, heldBack: true, .wait, superseded: 1),
    // The pause is over, and the one that waits has not heard of it yet.
    Line(throttled, 0, 0, 1, .start, superseded: 1),
    Line(throttled, 1, 0, 1, .wait, superseded: 1),

    Line(.keepLatest, 0, 0, 0, .start),
    Line(.keepLatest, 1, 1, 0, .wait),
    Line(.keepLatest, 1, 0, 0, .wait),
    Line(.keepLatest, 1, 1, 1, .wait, superseded: 1),
    Line(.keepLatest, 0, 0, 0, heldBack: true, .wait),
    Line(.keepLatest, 0, 0, 1, heldBack: true, .wait, superseded: 1),
    Line(latestPair, 1, 1, 0, .start),
    Line(latestPair, 2, 2, 0, .wait),
    Line(latestPair, 2, 2, 1, .wait, superseded: 1),
  ]

  @Test(arguments: table)
  func `the state of the queue decides the fate of an incoming operation`(line: Line) {
    let decision = line.policy.decision(
      holding: line.holding, live: line.live, waiting: line.waiting,
      undelivered: line.undelivered, isHeldBack: line.isHeldBack)
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

  @Test func `a pause is counted from now, or ends with the next start`() {
    let (one, two) = (Duration.seconds(1), Duration.seconds(2))
    #expect(Policy.keepLatest.endOfPause(at: one, nextStart: two) == nil)
    #expect(Self.debounced.endOfPause(at: one, nextStart: .zero) == two)
    #expect(Policy.cancelPrevious(debounce: .zero).endOfPause(at: one, nextStart: .zero) == one)
    #expect(Self.throttled.endOfPause(at: one, nextStart: two) == two)
    #expect(Self.throttled.endOfPause(at: two, nextStart: two) == nil)
  }

  @Test func `no pause is longer than clocks can sleep`() {
    let longest = Duration(attoseconds: .max)
    for policy in [Policy.throttle(longest), .cancelPrevious(debounce: longest)] {
      var machine = QueueMachine<Int, Never>(policy: policy)
      _ = machine.admit(1, id: .init(number: 1), at: .seconds(1))
      let end = machine.admit(2, id: .init(number: 2), at: .seconds(1)).endOfPause
      #expect(end == .seconds(1 + 100 * 365 * 86_400))
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

    @Test func `a debounce is not negative`() async {
      await #expect(processExitsWith: .failure) {
        _ = Policy.cancelPrevious(debounce: .nanoseconds(-1))
      }
    }
  #endif
}
