import TestSupport
import Testing

@testable import UseCase

@Suite(.computes)
struct QueueMachineTests {
  typealias Policy = UseCaseQueue.Policy

  static let policies =
    [
      Policy.unlimited, .serial, .limit(2), .dropWhileBusy, Policy(limit: 2, whenBusy: .drop),
      .limit(1, waiting: 1), .limit(2, waiting: 2), .throttle(.seconds(1)), .throttle(.seconds(2)),
      .keepLatest, Policy(limit: 2, whenBusy: .keepLatest),
      .cancelPrevious, Policy(limit: 2, whenBusy: .cancelPrevious),
      .cancelPrevious(debounce: .seconds(1)),
      .cancelPreviousAndWait, Policy(limit: 2, whenBusy: .cancelPreviousAndWait),
    ] + composed

  static let second = Duration.seconds(1)
  static let composed = [
    Policy.keepLatest.debounced(by: second), .keepLatest.debounced(by: second, atMost: .seconds(2)),
    .keepLatest.debounced(by: .seconds(2), atMost: .seconds(3)).spaced(by: .seconds(2)),
    .cancelPrevious.debounced(by: second, atMost: second).spaced(by: .seconds(2)),
    .cancelPreviousAndWait.debounced(by: second, atMost: .seconds(2)),
    .cancelPreviousAndWait.debounced(by: second).rate(2, per: .seconds(2)),
    .serial.spaced(by: second), .limit(2).rate(2, per: .seconds(2)),
    .unlimited.rate(2, per: second), .limit(2, waiting: 1).rate(2, per: second),
    .unlimited.rate(1, per: second).waiting(atMost: 1),
    .dropWhileBusy.spaced(by: second), Policy(limit: 3, whenBusy: .drop).rate(2, per: second),
    .cancelPrevious.spaced(by: second),
    Policy(limit: 2, whenBusy: .cancelPrevious).rate(2, per: second),
    .cancelPreviousAndWait.rate(2, per: second),
    Policy(limit: 2, whenBusy: .keepLatest).rate(3, per: second),
    .serial.byPriority, .limit(2).waiting(atMost: 2).byPriority,
    .limit(2).byPriority.rate(1, per: second), .unlimited.byPriority.rate(2, per: .seconds(2)),
  ]

  // MARK: - Every sequence

  @discardableResult
  func goOn(_ pair: QueuePair, steps: Int) -> Bool {
    guard steps > 0 else { return true }
    for event in pair.events {
      var next = pair
      guard next.apply(event), goOn(next, steps: steps - 1) else { return false }
    }
    return true
  }

  @Test(arguments: policies)
  func `a queue does what arrays and loops do`(policy: Policy) {
    goOn(QueuePair(policy), steps: Self.composed.contains(policy) ? 3 : policy.pauses ? 4 : 5)
  }

  @Test(arguments: policies)
  func `a busy queue does what arrays and loops do`(policy: Policy) {
    var pair = QueuePair(policy)
    for _ in 1...4 { _ = pair.apply(.submit) }
    goOn(pair, steps: policy.pauses || policy.isByPriority ? 2 : 3)
  }

  // MARK: - Case by case

  /// Five calls in a row, and what has become of each: `R` holds a slot, `W` waits, `S` was
  /// superseded, `D` was dropped. Calls that were superseded while they waited are written `s`.
  static let fiveCalls: [(policy: Policy, fates: String)] = [
    (.unlimited, "RRRRR"), (.serial, "RWWWW"), (.limit(2), "RRWWW"), (.dropWhileBusy, "RDDDD"),
    (Policy(limit: 2, whenBusy: .drop), "RRDDD"), (.limit(1, waiting: 2), "RWWDD"),
    (.limit(2, waiting: 1), "RRWDD"), (.throttle(.seconds(1)), "RsssW"),
    (.keepLatest, "RsssW"),
    (Policy(limit: 2, whenBusy: .keepLatest), "RRssW"), (.cancelPrevious, "SSSSR"),
    (Policy(limit: 2, whenBusy: .cancelPrevious), "SSSRR"),
    (.cancelPreviousAndWait, "SsssW"),
    (Policy(limit: 2, whenBusy: .cancelPreviousAndWait), "SSsWW"),
    (.cancelPrevious(debounce: .seconds(1)), "ssssW"),
  ]

  @Test(arguments: fiveCalls)
  func `five executions in a row have the fates of the policy`(policy: Policy, fates: String) {
    var machine = QueueMachine<Int, Never, Never>(policy: policy)
    var result: [Character] = []
    for call in 0..<5 {
      let arrival = machine.admit(call, id: .init(number: UInt64(call + 1)))
      for old in arrival.superseded.all { result[old] = result[old] == "W" ? "s" : "S" }
      switch arrival.admission {
      case .start: result.append("R")
      case .wait: result.append("W")
      case .refuse: result.append("D")
      }
    }
    #expect(String(result) == fates)
    let unwinding = result.count { $0 == "S" }
    #expect(
      machine.activity()
        == UseCaseActivity(
          running: result.count { $0 == "R" } + unwinding, waiting: result.count { $0 == "W" },
          cancelled: result.count { "sD".contains($0) }))
    #expect(machine.activity().executed == 5)
  }

  /// A queue of characters.
  struct Named {
    var machine: QueueMachine<Character, Int, Int>
    var ids: [Character: UseCaseOperationID] = [:]
    private var count = 0
    var now = Duration.zero

    /// Submits all of these.
    init(_ policy: Policy, _ names: String = "") {
      machine = QueueMachine(policy: policy)
      submit(names)
    }

    /// Returns the members that start at once.
    @discardableResult
    mutating func submit(_ names: String) -> String {
      var started = ""
      for name in names {
        count += 1
        let id = UseCaseOperationID(number: UInt64(count))
        _ = machine.change(at: now) { $0.wake() }
        let arrival = machine.admit(name, id: id)
        ids[name] = id
        if arrival.admission == .start { started.append(name) }
      }
      return started
    }

    /// Returns the members that start now.
    mutating func finish(_ name: Character, as kind: Verdict.Kind = .success) -> String {
      change(name) { $0.leave($1, as: kind) }
    }

    mutating func cancel(_ name: Character) -> String {
      change(name) { $0.concludedEarly($1, as: .cancelled, isNew: true) }
    }

    mutating func wake(at time: Duration) -> String {
      now = time
      return String(machine.change(at: now) { $0.wake() }?.started.all ?? [])
    }

    mutating func flush() -> String {
      String(machine.change(at: now) { $0.flush() }?.started.all ?? [])
    }

    /// Returns the tasks that go on because the queue is idle.
    mutating func leave(_ name: Character) -> [Int] {
      ids[name].flatMap { machine.leave($0, as: .cancelled) }?.idle.all ?? []
    }

    private mutating func change(
      _ name: Character,
      _ event: (inout QueueMachine<Character, Int, Int>, UseCaseOperationID)
        -> QueueMachine<Character, Int, Int>.Release?
    ) -> String {
      guard let id = ids[name] else { return "?" }
      return String(machine.change(at: now) { event(&$0, id) }?.started.all ?? [])
    }
  }

  @Test func `waiting members start in the order of execute`() {
    var queue = Named(.limit(2), "abcde")
    #expect(queue.finish("b") == "c")
    #expect(queue.finish("c", as: .failure) == "d")
    #expect(queue.finish("a") == "e")
    #expect(queue.machine.activity() == UseCaseActivity(running: 2, succeeded: 2, failed: 1))
  }

  @Test func `a member that is cancelled while it waits frees its place and no slot`() {
    var queue = Named(.serial, "abcd")
    #expect(queue.cancel("b") == "")
    #expect(queue.machine.activity() == UseCaseActivity(running: 1, waiting: 2, cancelled: 1))
    #expect(queue.finish("a") == "c")
    #expect(queue.finish("c") == "d")
  }

  @Test func `a cancelled member keeps its slot until it leaves`() {
    var queue = Named(.dropWhileBusy, "a")
    #expect(queue.cancel("a") == "")
    #expect(queue.submit("b") == "")
    #expect(queue.finish("a", as: .cancelled) == "")
    #expect(queue.submit("c") == "c")
    #expect(queue.machine.activity() == UseCaseActivity(running: 1, cancelled: 2))
  }

  @Test func `the newest one starts when the old one has left`() {
    var queue = Named(.cancelPreviousAndWait, "abcde")
    #expect(queue.finish("b") == "")
    #expect(queue.finish("a", as: .cancelled) == "e")
    #expect(queue.machine.activity() == UseCaseActivity(running: 1, cancelled: 4))
  }

  @Test func `the latest one starts when there is a slot`() {
    var queue = Named(Policy(limit: 2, whenBusy: .keepLatest), "abc")
    #expect(queue.finish("b") == "c")
    #expect(queue.submit("d") == "")
    #expect(queue.submit("e") == "")
    #expect(queue.finish("a") == "e")
  }

  @Test func `nothing starts when the latest one was cancelled`() {
    var queue = Named(.keepLatest, "ab")
    #expect(queue.cancel("b") == "")
    #expect(queue.machine.awaitIdle(1) == nil)
    #expect(queue.finish("a") == "")
    #expect(queue.machine.activity().isIdle)
  }

  @Test func `an older one that still runs within the limit stays`() {
    var queue = Named(Policy(limit: 2, whenBusy: .cancelPrevious), "abc")
    #expect(queue.finish("c") == "")
    #expect(queue.submit("d") == "d")
    #expect(queue.finish("a") == "")
    #expect(queue.machine.cancelAll().members == ["b", "d"])
  }

  @Test func `only the newest one starts after the debounce`() {
    var queue = Named(.cancelPrevious(debounce: .seconds(1)), "ab")
    #expect(queue.machine.nextAlarm()?.time == .seconds(1))
    #expect(queue.wake(at: .milliseconds(999)) == "")
    #expect(queue.wake(at: .seconds(1)) == "b")
    #expect(queue.wake(at: .seconds(1)) == "")
    #expect(
      queue.machine.admit("c", id: .init(number: 9)).superseded.all == ["b"])
    #expect(queue.machine.activity() == UseCaseActivity(running: 1, waiting: 1, cancelled: 1))
  }

  @Test(.holds("Debounce"))
  func `a burst that never pauses starts one of its own after the longest wait`() {
    var queue = Named(.keepLatest.debounced(by: .seconds(2), atMost: .seconds(3)))
    var starts = ""
    for (second, name) in "abcdefgh".enumerated() {
      starts += queue.wake(at: .seconds(second))
      queue.submit(String(name))
      for name in starts { _ = queue.finish(name) }
    }
    #expect(starts == "cf")
    #expect(queue.wake(at: .seconds(8)) == "")
    queue.submit("i")
    _ = queue.cancel("i")
    // Nobody waits, so the longest time begins anew.
    queue.submit("j")
    #expect(queue.wake(at: .seconds(9)) == "")
    #expect(queue.wake(at: .seconds(10)) == "j")
  }

  @Test(.holds("Rate"))
  func `a window slides`() {
    var queue = Named(.unlimited.rate(2, per: .seconds(10)), "a")
    queue.now = .seconds(6)
    #expect(queue.submit("bcd") == "b")
    #expect(queue.wake(at: .seconds(10)) == "c")
    #expect(queue.wake(at: .seconds(15)) == "")
    #expect(queue.machine.nextAlarm()?.time == .seconds(16))
    #expect(queue.wake(at: .seconds(16)) == "d")
    queue.now = .seconds(40)
    #expect(queue.submit("efg") == "ef")
  }

  @Test(.holds("Flush"))
  func `a flush ends the pauses of those that wait, and of no later one`() {
    var queue = Named(.unlimited.spaced(by: .seconds(1)), "abc")
    #expect(queue.flush() == "bc")
    #expect(queue.submit("d") == "")
    #expect(queue.machine.nextAlarm()?.time == .seconds(1))
    #expect(queue.wake(at: .seconds(1)) == "d")
    #expect(queue.machine.nextAlarm()?.time == nil)
  }

  @Test(.holds("Line by priority"))
  func `a line by priority passes over what still pauses`() {
    var queue = Named(.serial.byPriority.spaced(by: .seconds(5)), "ab")
    #expect(queue.flush() == "")
    _ = queue.machine.admit("u", id: .init(number: 9), priority: 9)
    // The urgent one came after the flush, and waits for the window.
    #expect(queue.finish("a") == "b")
    queue.now = .seconds(7)
    #expect(queue.finish("b") == "u")
  }

  @Test(.holds("Line by priority"))
  func `a waiting operation that is raised goes before those of less priority`() {
    var queue = Named(.serial.byPriority, "abcd")
    for name in "cd" { queue.ids[name].map { _ = queue.machine.raise($0, to: 5) } }
    #expect(queue.finish("a") == "c")
    queue.ids["b"].map { _ = queue.machine.raise($0, to: 5) }
    #expect(queue.finish("c") == "b")
    // The running one is in no line any more.
    queue.ids["b"].map { _ = queue.machine.raise($0, to: 9) }
    #expect(queue.finish("b") == "d")
  }

  @Test func `the interval is counted from the last start, not from a cancelled wait`() {
    var queue = Named(.throttle(.seconds(10)), "ab")
    #expect(queue.finish("a") == "")
    queue.now = .seconds(4)
    #expect(queue.cancel("b") == "")
    queue.submit("c")
    #expect(queue.wake(at: .seconds(10)) == "c")
    #expect(queue.finish("c") == "")
    queue.now = .seconds(19)
    #expect(queue.submit("d") == "")
    queue.now = .seconds(20)
    #expect(queue.submit("e") == "")
    // The pause of the fourth was over when the fifth came.
    #expect(
      queue.machine.activity()
        == UseCaseActivity(running: 1, waiting: 1, succeeded: 2, cancelled: 1))
    #expect(queue.finish("d") == "")
    #expect(queue.wake(at: .seconds(30)) == "e")
  }

  @Test func `a late look at the clock does not shorten the interval`() {
    var queue = Named(.throttle(.seconds(10)), "ab")
    #expect(queue.wake(at: .seconds(10)) == "")
    // The thread that gives the slot back has read the clock before it got the lock.
    queue.now = .seconds(3)
    #expect(queue.finish("a") == "b")
    #expect(queue.finish("b") == "")
    queue.now = .seconds(19)
    #expect(queue.submit("c") == "")
  }

  @Test func `a member that has paused while the queue is suspended starts when it resumes`() {
    var queue = Named(.cancelPrevious(debounce: .seconds(1)))
    _ = queue.machine.suspend()
    queue.submit("a")
    #expect(queue.wake(at: .seconds(1)) == "")
    #expect(queue.machine.resume()?.started.all == ["a"])
  }

  @Test func `a suspended queue admits, starts nothing, and resumes in order`() {
    var queue = Named(.limit(2), "a")
    _ = queue.machine.suspend()
    #expect(queue.machine.isSuspended)
    #expect(queue.submit("bcd") == "")
    #expect(queue.finish("a") == "")
    #expect(queue.machine.resume()?.started.all == ["b", "c"])
    #expect(!queue.machine.isSuspended)
  }

  @Test func `cancelAll empties a suspended queue`() {
    var queue = Named(.serial)
    _ = queue.machine.suspend()
    queue.submit("abc")
    let (members, _) = queue.machine.cancelAll()
    #expect(members == ["a", "b", "c"])
    #expect(queue.machine.resume()?.started.all ?? [] == [])
    #expect(queue.machine.activity() == UseCaseActivity(cancelled: 3))
  }

  @Test func `cancelAll takes running members before waiting ones, the oldest first`() {
    var queue = Named(.limit(2), "abcde")
    _ = queue.finish("a")
    #expect(queue.machine.cancelAll().members == ["b", "c", "d", "e"])
  }

  @Test func `cancelAll takes members again whose bodies have not returned`() {
    var queue = Named(.limit(3), "abcd")
    #expect(queue.cancel("b") == "")
    #expect(queue.machine.cancelAll().members == ["b", "a", "c", "d"])
    #expect(queue.finish("a") == "")
    #expect(queue.machine.cancelAll().members == ["b", "c"])
    #expect(queue.finish("c") == "")
    #expect(queue.finish("b") == "")
    #expect(queue.machine.cancelAll().members.isEmpty)
  }

  @Test func `a task that awaits an idle queue goes on when the last member has left`() {
    var queue = Named(.serial)
    #expect(queue.machine.awaitIdle(1) == 1)
    queue.submit("ab")
    #expect(queue.machine.awaitIdle(2) == nil)
    #expect(queue.machine.awaitIdle(3) == nil)
    _ = queue.cancel("b")
    _ = queue.cancel("a")
    #expect(queue.leave("a") == [])
    #expect(queue.machine.activity().isIdle)
    // Handlers of the one that never had a slot are left to run.
    #expect(queue.machine.awaitIdle(4) == nil)
    #expect(queue.leave("b") == [2, 3, 4])
    #expect(queue.machine.awaitIdle(5) == 5)
  }

  @Test func `members that wait in a suspended queue are not waited for`() {
    var queue = Named(.serial, "a")
    _ = queue.machine.suspend()
    queue.submit("b")
    #expect(queue.machine.awaitIdle(1) == nil)
    #expect(queue.leave("a") == [1])
    _ = queue.machine.resume()
    #expect(queue.machine.awaitIdle(2) == nil)
    #expect(queue.machine.suspend()?.idle.all ?? [] == [])
    #expect(queue.leave("b") == [2])
  }

  @Test func `a queue becomes idle when it is suspended while everything waits`() {
    var queue = Named(.cancelPrevious(debounce: .seconds(1)), "a")
    #expect(queue.machine.awaitIdle(1) == nil)
    #expect(queue.machine.suspend()?.idle.all == [1])
  }

  @Test func `a queue is suspended and closed itself, or with all lanes`() {
    var queue = Named(.serial)
    queue.machine.follow(isSuspended: true, isClosed: false)
    #expect(queue.machine.isSuspended && queue.submit("a") == "")
    #expect(queue.machine.resume()?.started.all ?? [] == [])
    queue.machine.follow(isSuspended: false, isClosed: true)
    #expect(String(queue.machine.wake()?.started.all ?? []) == "a")
    #expect(queue.machine.isClosed)
    #expect(
      queue.machine.admit("b", id: .init(number: 9)).admission == .refuse(.closed))
    queue.machine.follow(isSuspended: false, isClosed: false)
    #expect(!queue.machine.isClosed)
  }

  // MARK: - In handlers

  /// Calls in a handler of `a`, and what has become of all before and after it has left: `-` has
  /// left, the other letters are those of `fiveCalls`.
  static let callsInHandler: [(policy: Policy, others: Int, calls: Int, fates: String)] = [
    (.dropWhileBusy, 0, 2, "RWD -RD"), (.serial, 1, 1, "RWW -RW"),
    (.keepLatest, 1, 1, "RWW -RW"), (.keepLatest, 1, 2, "RWsW -RsW"),
    (.limit(1, waiting: 1), 1, 2, "RWWD -RWD"), (.cancelPrevious, 0, 1, "RR -R"),
    (.cancelPreviousAndWait, 0, 2, "RsW -sR"), (.unlimited, 0, 1, "RR -R"),
  ]

  @Test(arguments: callsInHandler)
  func `a handler executes as if its own member had left`(
    policy: Policy, others: Int, calls: Int, fates: String
  ) {
    var machine = QueueMachine<Int, Never, Never>(policy: policy)
    var result: [Character] = []
    for call in 0..<(1 + others + calls) {
      let id = UseCaseOperationID(number: UInt64(call + 1))
      let arrival = machine.admit(call, id: id, in: call > others ? .init(number: 1) : nil)
      for old in arrival.superseded.all { result[old] = result[old] == "W" ? "s" : "S" }
      switch arrival.admission {
      case .start: result.append("R")
      case .wait: result.append("W")
      case .refuse: result.append("D")
      }
    }
    let before = String(result)
    result[0] = "-"
    machine.leave(.init(number: 1), as: .success)?.started.forEach { result[$0] = "R" }
    #expect("\(before) \(String(result))" == fates)
  }

  @Test func `in a lane that is being resumed, those that wait go before what a handler executes`()
  {
    var machine = QueueMachine<Int, Never, Never>(policy: .limit(3))
    let ids = (0...2).map { UseCaseOperationID(number: UInt64($0 + 1)) }
    _ = machine.admit(0, id: ids[0])
    machine.follow(isSuspended: true, isClosed: false)
    _ = machine.admit(1, id: ids[1])
    machine.follow(isSuspended: false, isClosed: false)
    guard case .wait = machine.admit(2, id: ids[2], in: ids[0]).admission else {
      Issue.record("It has overtaken the one that waits.")
      return
    }
    #expect(machine.wake()?.started.all == [1, 2])
  }

  @Test func `a member that unwinds is not among the newest after cancelAll`() {
    var machine = QueueMachine<Int, Never, Never>(
      policy: Policy(limit: 2, whenBusy: .cancelPrevious))
    let ids = (0...2).map { UseCaseOperationID(number: UInt64($0 + 1)) }
    _ = machine.admit(0, id: ids[0])
    _ = machine.leave(ids[0], as: .success)
    _ = machine.admit(1, id: ids[1])
    _ = machine.concludedEarly(ids[1], as: .failure, isNew: true)
    _ = machine.cancelAll()
    _ = machine.admit(2, id: ids[2])
    // The first one and the last one may deliver.
    #expect(machine.floor == ids[0])
  }

  @Test func `a member is done for its own handlers`() {
    let queue = Named(.serial, "ab")
    #expect(
      queue.machine.activity(without: (.init(number: 1), .failure))
        == UseCaseActivity(waiting: 1, failed: 1))
    #expect(
      queue.machine.activity(without: (.init(number: 2), .failure))
        == UseCaseActivity(running: 1, waiting: 1))
  }

  @Test(.holds("Only the newest deliver"))
  func `each admission settles for good which members may deliver`() {
    var queue = Named(Policy(limit: 2, whenBusy: .cancelPrevious), "ab")
    #expect(queue.machine.floor == queue.ids["a"])
    _ = queue.cancel("b")
    queue.submit("c")
    #expect(queue.machine.floor == queue.ids["a"])
    queue.submit("d")
    #expect(queue.machine.floor == queue.ids["c"])
    // A newer one that is cancelled brings no older one back.
    _ = queue.cancel("d")
    queue.submit("e")
    #expect(queue.machine.floor == queue.ids["c"])
  }

  @Test func `a member that fails while it waits has failed, and is not cancelled`() {
    var queue = Named(.serial, "ab")
    _ = queue.ids["b"].map { queue.machine.concludedEarly($0, as: .failure, isNew: true) }
    #expect(queue.machine.activity() == UseCaseActivity(running: 1, failed: 1))
  }

  @Test func `an early outcome that is heard when the member has left changes nothing`() {
    var machine = QueueMachine<Int, Int, Int>(policy: .serial)
    let ids = (1...2).map { UseCaseOperationID(number: $0) }
    for id in ids { _ = machine.admit(1, id: id) }
    for id in ids { _ = machine.leave(id, as: .success) }
    for id in ids { _ = machine.concludedEarly(id, as: .cancelled, isNew: true) }
    #expect(machine.activity() == UseCaseActivity(succeeded: 2))
    #expect(machine.isEmpty)
  }

  @Test func `a member is held while it waits, runs and unwinds, and no longer`() {
    var machine = QueueMachine<Int, Int, Int>(policy: .serial)
    let ids = (1...2).map { UseCaseOperationID(number: $0) }
    for id in ids { _ = machine.admit(1, id: id) }
    #expect(ids.map { machine.holds($0) } == [true, true])
    _ = machine.concludedEarly(ids[0], as: .cancelled, isNew: true)
    #expect(ids.map { machine.holds($0) } == [true, true])
    _ = machine.leave(ids[0], as: .cancelled)
    #expect(ids.map { machine.holds($0) } == [false, true])
    _ = machine.leave(ids[1], as: .success)
    #expect(ids.map { machine.holds($0) } == [false, false])
  }

  @Test func `the end of a pause is noticed by whatever comes before its alarm`() {
    let debounce = Policy.cancelPrevious(debounce: .seconds(1))
    for policy in [debounce, .keepLatest.debounced(by: .seconds(1))] {
      // The first has been superseded, and its task ends late.
      var queue = Named(policy, "ab")
      #expect(queue.machine.nextAlarm()?.time == .seconds(1))
      queue.now = .seconds(2)
      #expect(queue.finish("a", as: .cancelled) == "b")
      #expect(queue.machine.nextAlarm()?.time == nil)
    }
    var queue = Named(.limit(2).rate(1, per: .seconds(1)), "ab")
    queue.now = .seconds(2)
    #expect(queue.cancel("a") == "b")
  }

  @Test func `the end of a pause is noticed when what has failed is cancelled, too`() {
    let (a, b) = (UseCaseOperationID(number: 1), UseCaseOperationID(number: 2))
    var machine = QueueMachine<String, Int, Int>(
      policy: .cancelPrevious.debounced(by: .seconds(1)))
    func change(
      at second: Int,
      _ event: (inout QueueMachine<String, Int, Int>) -> QueueMachine<String, Int, Int>.Release?
    ) -> [String] {
      machine.change(at: .seconds(second), event)?.started.all ?? []
    }
    _ = machine.admit("a", id: a)
    #expect(change(at: 1) { $0.wake() } == ["a"])
    #expect(change(at: 1) { $0.concludedEarly(a, as: .failure, isNew: true) } == [])
    #expect(machine.admit("b", id: b).admission == .wait)
    #expect(change(at: 2) { $0.concludedEarly(a, as: .cancelled, isNew: false) } == ["b"])
  }

  @Test func `what comes while all lanes are resumed goes behind what waits`() {
    for policy in [Policy.serial, .limit(2), .serial.byPriority] {
      var queue = Named(policy)
      queue.machine.follow(isSuspended: true, isClosed: false)
      #expect(queue.submit("a") == "")
      // The switch is turned, and the lane has not followed yet.
      queue.machine.follow(isSuspended: false, isClosed: false)
      #expect(queue.machine.admit("b", id: .init(number: 2)).admission == .wait)
      #expect(String(queue.machine.wake()?.started.all ?? []) == (policy.limit == 1 ? "a" : "ab"))
    }
  }

  @Test func `a member that is gone is not kept`() {
    final class Operation: Sendable {}
    var machine = QueueMachine<Operation, Int, Int>(policy: .serial)
    var kept: [() -> Bool] = []
    let ids = (1...4).map { UseCaseOperationID(number: $0) }
    for id in ids {
      let operation = Operation()
      kept.append { [weak operation] in operation != nil }
      _ = machine.admit(operation, id: id)
    }
    #expect(kept.map { $0() } == [true, true, true, true])
    _ = machine.concludedEarly(ids[2], as: .cancelled, isNew: true)
    #expect(kept.map { $0() } == [true, true, false, true])
    _ = machine.leave(ids[0], as: .success)
    #expect(kept.map { $0() } == [false, true, false, true])
    _ = machine.cancelAll()
    #expect(kept.map { $0() } == [false, true, false, false])
    _ = machine.leave(ids[1], as: .cancelled)
    #expect(kept.map { $0() } == [false, false, false, false])
  }
}

/// A generator whose numbers are the same in every run.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
