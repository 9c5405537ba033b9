import Testing

@testable import UseCase

struct PolicyTests {
  typealias Policy = UseCaseQueue.Policy

  /// One line of the table: the state of the queue, and the fates of the incoming operation and of the others.
  struct Line: CustomTestStringConvertible, Sendable {
    let policy: Policy
    let (holding, live, waiting, isSuspended): (Int, Int, Int, Bool)
    let decision: Policy.Decision

    init(
      _ policy: Policy, _ holding: Int, _ live: Int, _ waiting: Int, suspended: Bool = false,
      _ entry: Policy.Decision.Entry, live supersededLive: Int = 0,
      waiting supersededWaiting: Int = 0
    ) {
      self.policy = policy
      (self.holding, self.live, self.waiting, isSuspended) = (holding, live, waiting, suspended)
      decision = Policy.Decision(
        entry: entry, supersededLive: supersededLive, supersededWaiting: supersededWaiting)
    }

    var testDescription: String {
      "\(policy.whenBusy), limit \(policy.limit), \(holding) hold, \(live) live, \(waiting) wait"
        + (isSuspended ? ", suspended" : "")
    }
  }

  static let pair = Policy(limit: 2, whenBusy: .cancelPrevious)
  static let pairAndWait = Policy(limit: 2, whenBusy: .cancelPreviousAndWait)
  static let dropPair = Policy(limit: 2, whenBusy: .drop)
  static let latestPair = Policy(limit: 2, whenBusy: .keepLatest)
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
    Line(.cancelPrevious, 1, 1, 0, .start, live: 1),
    Line(.cancelPrevious, 1, 0, 0, .start),
    Line(.cancelPrevious, 5, 1, 0, .start, live: 1),
    Line(.cancelPrevious, 0, 0, 0, suspended: true, .wait),
    Line(.cancelPrevious, 1, 1, 0, suspended: true, .wait, live: 1),
    Line(.cancelPrevious, 1, 0, 1, suspended: true, .wait, waiting: 1),
    Line(pair, 1, 1, 0, .start),
    Line(pair, 2, 2, 0, .start, live: 1),
    Line(pair, 2, 1, 0, .start),
    Line(pair, 1, 1, 0, suspended: true, .wait),
    Line(pair, 1, 1, 1, suspended: true, .wait, live: 1),
    Line(pair, 1, 0, 2, suspended: true, .wait, waiting: 1),

    Line(debounced, 0, 0, 0, .wait),
    Line(debounced, 0, 0, 1, .wait, waiting: 1),
    Line(debounced, 1, 1, 0, .wait, live: 1),
    Line(debounced, 1, 0, 1, .wait, waiting: 1),

    Line(.cancelPreviousAndWait, 0, 0, 0, .start),
    Line(.cancelPreviousAndWait, 1, 1, 0, .wait, live: 1),
    Line(.cancelPreviousAndWait, 1, 0, 0, .wait),
    Line(.cancelPreviousAndWait, 1, 0, 1, .wait, waiting: 1),
    Line(.cancelPreviousAndWait, 0, 0, 1, suspended: true, .wait, waiting: 1),
    Line(pairAndWait, 1, 1, 0, .start),
    Line(pairAndWait, 2, 2, 0, .wait, live: 1),
    Line(pairAndWait, 2, 1, 0, .wait),
    Line(pairAndWait, 2, 1, 1, .wait, live: 1),
    Line(pairAndWait, 2, 0, 2, .wait, waiting: 1),

    Line(.dropWhileBusy, 0, 0, 0, .start),
    Line(.dropWhileBusy, 1, 1, 0, .drop),
    Line(.dropWhileBusy, 1, 0, 0, .drop),
    Line(.dropWhileBusy, 0, 0, 0, suspended: true, .wait),
    Line(.dropWhileBusy, 0, 0, 1, suspended: true, .drop),
    Line(dropPair, 1, 1, 0, .start),
    Line(dropPair, 2, 1, 0, .drop),
    Line(dropPair, 1, 1, 0, suspended: true, .wait),
    Line(dropPair, 1, 1, 1, suspended: true, .drop),

    Line(.keepLatest, 0, 0, 0, .start),
    Line(.keepLatest, 1, 1, 0, .wait),
    Line(.keepLatest, 1, 0, 0, .wait),
    Line(.keepLatest, 1, 1, 1, .wait, waiting: 1),
    Line(.keepLatest, 0, 0, 0, suspended: true, .wait),
    Line(.keepLatest, 0, 0, 1, suspended: true, .wait, waiting: 1),
    Line(latestPair, 1, 1, 0, .start),
    Line(latestPair, 2, 2, 0, .wait),
    Line(latestPair, 2, 2, 1, .wait, waiting: 1),
  ]

  @Test(arguments: table)
  func `the state of the queue decides the fate of an incoming operation`(line: Line) {
    let decision = line.policy.decision(
      holding: line.holding, live: line.live, waiting: line.waiting,
      isSuspended: line.isSuspended)
    #expect(decision == line.decision)
  }

  @Test func `who waits may start when there is a slot`() {
    for policy in [
      Policy.serial, .cancelPreviousAndWait, .dropWhileBusy, .keepLatest,
    ] {
      #expect(policy.mayStart(holding: 0))
      #expect(!policy.mayStart(holding: 1))
    }
    #expect(Policy.limit(3).mayStart(holding: 2))
    #expect(!Policy.limit(3).mayStart(holding: 3))
    #expect(Policy.unlimited.mayStart(holding: 1_000_000))
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
    #expect(Self.debounced.debounce == .seconds(1))
    #expect(Policy.cancelPrevious(debounce: .zero).debounce == .zero)
  }

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
}
