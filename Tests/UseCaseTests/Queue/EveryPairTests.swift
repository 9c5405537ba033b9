import TestSupport
import Testing

@testable import UseCase

/// Each allowed pair of parts on each rule: a real queue on a manual clock beside arrays and loops,
/// with the same acts in every order. The limit ends the wait for an alarm that a queue never sets.
@Suite(.computes, .timeLimit(.minutes(25)))
struct EveryPairTests {
  typealias Policy = UseCaseQueue.Policy

  enum Part: CaseIterable {
    case waiting, byPriority, debounced, debouncedAtMost, spaced, rate

    func isAllowed(on policy: Policy) -> Bool {
      switch (self, policy.whenBusy) {
      case (.waiting, .wait), (.byPriority, .wait), (.spaced, _), (.rate, _): true
      case (.debounced, .keepLatest), (.debouncedAtMost, .keepLatest),
        (.debounced, .cancelPrevious), (.debouncedAtMost, .cancelPrevious),
        (.debounced, .cancelPreviousAndWait), (.debouncedAtMost, .cancelPreviousAndWait):
        policy.limit == 1
      case (.waiting, _), (.byPriority, _), (.debounced, _), (.debouncedAtMost, _): false
      }
    }

    func added(to policy: Policy) -> Policy {
      switch self {
      case .waiting: policy.waiting(atMost: 1)
      case .byPriority: policy.byPriority
      case .debounced: policy.debounced(by: .seconds(1))
      case .debouncedAtMost: policy.debounced(by: .seconds(1), atMost: .seconds(2))
      case .spaced: policy.spaced(by: .seconds(2))
      case .rate: policy.rate(2, per: .seconds(3))
      }
    }

    /// The later of two that set the same thing counts.
    func sets(sameAs other: Part) -> Bool {
      switch (self, other) {
      case (.spaced, .rate), (.rate, .spaced): true
      case (.debounced, .debouncedAtMost), (.debouncedAtMost, .debounced): true
      default: self == other
      }
    }
  }

  static let bases =
    [Policy.unlimited]
    + [1, 2].flatMap { limit in
      [Policy.WhenBusy.wait, .drop, .keepLatest, .cancelPrevious, .cancelPreviousAndWait].map {
        Policy(limit: limit, whenBusy: $0)
      }
    }

  static let pairs: [(base: Policy, first: Part, second: Part)] = bases.flatMap { base in
    let parts = Part.allCases.filter { $0.isAllowed(on: base) }
    return parts.flatMap { first in parts.map { (base, first, $0) } }
  }

  static let longest = Duration(attoseconds: .max)
  /// The pairs, zero, and durations that no clock can sleep.
  static let policies =
    Set(pairs.map { $0.second.added(to: $0.first.added(to: $0.base)) })
    .union([
      .keepLatest.debounced(by: .zero, atMost: .zero).spaced(by: .zero),
      .keepLatest.debounced(by: .nanoseconds(1), atMost: longest).spaced(by: .nanoseconds(1)),
      .cancelPrevious.debounced(by: longest).rate(.max, per: longest),
      .serial.waiting(atMost: .max).byPriority.spaced(by: longest),
    ])
    .sorted { "\($0)" < "\($1)" }

  @Test(.holds("Composition"))
  func `the parts of a pair can be added in any order`() {
    for (base, first, second) in Self.pairs where !first.sets(sameAs: second) {
      #expect(
        first.added(to: second.added(to: base)) == second.added(to: first.added(to: base)),
        "\(base), \(first), \(second)")
    }
  }

  @Test(.holds("Composition", "Rate", "Debounce", "Flush"), arguments: policies)
  func `a queue on a clock does what arrays and loops do, in every order`(
    policy: Policy
  ) async throws {
    for acts in [
      [QueueOnClock.Act.execute, .finish, .flush, .second, .suspendOrResume],
      [.execute, .cancel, .finish, .jump, .suspendOrResume],
    ] {
      for order in orders(of: acts) {
        let run = QueueOnClock(policy)
        guard try await run.take([.execute, .execute] + order), try await run.drain() else {
          return
        }
      }
    }
  }

  #if os(Linux) || os(macOS)
    static let impossible: [(base: Policy, part: Part)] = bases.flatMap { base in
      Part.allCases.filter { !$0.isAllowed(on: base) }.map { (base, $0) }
    }

    @Test(.holds("Composition"), arguments: impossible.indices)
    func `a part that a policy cannot have traps, and the trap says what to take`(
      index: Int
    ) async {
      let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        [index] in
        let (base, part) = Self.impossible[index]
        _ = part.added(to: base)
      }
      let text = String(decoding: trap?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("ake `."), "\(Self.impossible[index]): \(text)")
    }
  #endif

  private func orders(of acts: [QueueOnClock.Act]) -> [[QueueOnClock.Act]] {
    guard !acts.isEmpty else { return [[]] }
    return acts.indices.flatMap { index in
      var rest = acts
      let first = rest.remove(at: index)
      return orders(of: rest).map { [first] + $0 }
    }
  }
}

/// A real queue, and the reference beside it. The identities of the reference are the requests.
final class QueueOnClock {
  enum Act {
    case execute, finish, cancel, flush, suspendOrResume
    /// A second passes, or the clock jumps over many pauses.
    case second, jump
  }

  private let clock = ManualClock()
  private let held: Held
  private var plain: PlainQueue
  private var operations: [Operation] = []
  private var fates: [Character] = []
  private var trace: [Act] = []

  init(_ policy: UseCaseQueue.Policy) {
    plain = PlainQueue(policy: policy)
    held = Held(on: UseCaseQueue(policy, clock: clock))
  }

  /// Returns whether both queues do the same.
  func take(_ acts: [Act]) async throws -> Bool {
    for act in acts {
      trace.append(act)
      try await take(act)
      guard await isAlike() else { return false }
    }
    return true
  }

  /// Lets everything end. Returns whether both queues do the same.
  func drain() async throws -> Bool {
    if plain.isSuspended, try await !take([.suspendOrResume]) { return false }
    while !plain.waiting.isEmpty || !plain.holding.isEmpty {
      if plain.holding.isEmpty, let alarm = plain.alarm { try await pass(alarm - plain.now) }
      guard try await take([.finish]) else { return false }
    }
    await held.queue.idle()
    #expect(clock.sleepers == 0, "\(plain.policy) leaves a timer after \(trace)")
    return clock.sleepers == 0
  }

  private func take(_ act: Act) async throws {
    switch act {
    case .execute:
      let request = operations.count + 1
      // Each third one is urgent.
      let priority = request.isMultiple(of: 3) ? TaskPriority.high : .medium
      operations.append(held.execute(request, priority: priority))
      fates.append("W")
      note(plain.apply(.submit(priority: priority.rawValue, in: nil)))
    case .finish:
      guard let place = plain.holding.first else { return }
      held.open(Int(place.id))
      await operations[Int(place.id) - 1].ended()
      if place.isLive { fates[Int(place.id) - 1] = "+" }
      note(plain.apply(.leave(place.id)))
    case .cancel:
      guard let id = plain.open.max() else { return }
      operations[Int(id) - 1].cancel()
      fates[Int(id) - 1] = "C"
      note(plain.apply(.cancel(id)))
    case .flush:
      held.queue.flush()
      note(plain.apply(.flush))
    case .suspendOrResume where plain.isSuspended:
      held.queue.resume()
      note(plain.apply(.resume))
    case .suspendOrResume:
      held.queue.suspend()
      note(plain.apply(.suspend))
    case .second: try await pass(.seconds(1))
    case .jump: try await pass(.seconds(3_600))
    }
  }

  private func pass(_ duration: Duration) async throws {
    let alarm = plain.alarm
    if let alarm { try await clock.sleeping(for: alarm - plain.now) }
    await clock.advance(by: duration)
    plain.now += duration
    guard let alarm, alarm <= plain.now else { return }
    note(plain.apply(.wake))
    // The alarm rings in a task.
    let end = ContinuousClock.now + .seconds(600)
    while !isAlikeNow, ContinuousClock.now < end { await Task.yield() }
  }

  private var isAlikeNow: Bool {
    let activity = held.queue.activity
    return operations.map(\.fate) == fates
      && [activity.running, activity.waiting] == [plain.holding.count, plain.waiting.count]
  }

  private func note(_ effect: PlainQueue.Effect) {
    switch effect.admission {
    case .start: fates[fates.count - 1] = "R"
    case .refuse: fates[fates.count - 1] = "D"
    case .wait, nil: break
    }
    for id in effect.started { fates[Int(id) - 1] = "R" }
    for id in effect.superseded { fates[Int(id) - 1] = "S" }
    // Nothing has handlers here.
    for id in plain.lingering { note(plain.apply(.leave(id))) }
  }

  private func isAlike() async -> Bool {
    let (isAlike, found) = (isAlikeNow, operations.map(\.fate))
    #expect(
      isAlike,
      "\(plain.policy) after \(trace): \(found), not \(fates), \(held.queue.activity)")
    // A body that has not begun would give its slot back by itself when it is cancelled.
    if isAlike { await held.begun.elements(atLeast: plain.starts.count) }
    return isAlike && held.begun.elements.count == plain.starts.count
  }
}
