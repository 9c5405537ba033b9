import UseCase

/// Keeps the machine of a history behind its lock, and does what it orders.
final class HistoryLedger: Sendable {
  typealias Waiter = UnsafeContinuation<Void, Never>
  typealias Machine = HistoryMachine<any HistoryStep, UseCaseOperationID, Waiter>

  private struct Book {
    var machine: Machine
    var readers = HistoryReaders<Waiter>()
  }

  private struct Lane {
    unowned var queue: UseCaseQueue?
  }

  /// The place before all entries. No other history has it, also later, at the same address.
  let beginning = HistoryEntry.ID.next()
  private let book: Lock<Book>
  /// The lane calls the ledger, so the ledger does not keep it, and it is there when it calls. Not
  /// weak, because each retain of what a weak reference knows takes a longer way.
  private let lane = Lock(Lane())
  private let elapsed: @Sendable () -> Duration

  init(limit: Int?, mergeWindow: Duration, clock: any Clock<Duration>) {
    let machine = Machine(limit: limit, mergeWindow: mergeWindow, beginning: beginning)
    book = Lock(Book(machine: machine))
    elapsed = clock.stopwatch()
  }

  /// Returns the serial queue on which everything runs.
  func makeLane(clock: any Clock<Duration>) -> UseCaseQueue {
    let queue = UseCaseQueue(.serial, clock: clock) { [self] in hear($0) }
    lane.withLock { $0.queue = queue }
    return queue
  }

  func read<Value: Sendable>(_ body: (inout Machine) -> Value) -> Value {
    book.withLock { body(&$0.machine) }
  }

  /// Changes the machine, and then wakes those who read its states.
  @discardableResult
  func change<Value: ~Copyable & Sendable>(_ body: (inout Machine) -> Value) -> Value {
    var readers: [Waiter]?
    let value = book.withLock { book in
      let value = body(&book.machine)
      readers = book.readers.wake(for: book.machine.version)
      return value
    }
    if let readers { for reader in readers { reader.resume() } }
    return value
  }

  /// The lane is still held by the body whose frame is over: what `discard` starts finds that it is
  /// not inside of it.
  private func discard(
    _ drops: consuming [HistoryDrop<any HistoryStep>], in frame: HistoryFrame
  ) {
    if drops.isEmpty { return }
    HistoryFrame.local.withValue(.inside(frame)) {
      // Handed over: a copy would be one of every entry.
      let all = drops
      drops = []
      discard(consume all)
    }
  }

  func discard(_ drops: consuming [HistoryDrop<any HistoryStep>]) {
    for index in drops.indices {
      let reason = drops[index].reason
      drops[index].removeAll { $0.discard(reason) }
    }
  }
}

// MARK: - Readers

extension HistoryLedger {
  var state: HistoryState {
    let snapshot = read { $0.snapshot() }
    var state = snapshot.state
    state.undoTitle = snapshot.undo?.title
    state.redoTitle = snapshot.redo?.title
    return state
  }

  var entries: [HistoryEntry] {
    let (applied, partial, undone) = read { ($0.applied, $0.partial, $0.undone) }
    var entries = applied.map { $0.entry(applied: $0.size, title: \.title) }
    if let partial, let newest = applied.last {
      entries[entries.count - 1] = newest.entry(applied: partial, title: \.title)
    }
    return entries + undone.reversed().map { $0.entry(applied: 0, title: \.title) }
  }

  /// Keeps the waiter until the state has a version from `next` on.
  func wait(_ waiter: Waiter, _ reader: HistoryReader, for next: UInt64) {
    let waiter = book.withLock { book in
      reader.isCancelled
        ? waiter
        : book.readers.wait(
          waiter, ObjectIdentifier(reader), for: next, at: book.machine.version)
    }
    waiter?.resume()
  }

  func cancel(_ reader: HistoryReader) {
    for waiter in book.withLock({ $0.readers.cancel(ObjectIdentifier(reader)) }) { waiter.resume() }
  }

  var isFinished: Bool { book.withLock { $0.readers.isFinished } }

  /// The history goes away: nobody needs to wait for its next change.
  func finish() {
    for reader in book.withLock({ $0.readers.finish() }) { reader.resume() }
  }
}

extension HistoryLabel<any HistoryStep> {
  fileprivate var title: String {
    switch self {
    case .step(let step): step.title
    case .text(let title): title
    }
  }
}

// MARK: - The lane

extension HistoryLedger {
  /// Whoever executes what is recorded, and however it is wrapped: the lane hears of it.
  private func hear(_ event: UseCaseEvent) {
    let id = event.id
    switch event.kind {
    case .waiting:
      let question = question(of: event)
      change { $0.admit(id, question) }
    case .running:
      if change({ $0.startIfPending(id) }) { return }
      // Who is called by a body runs in its slot, and was not admitted.
      guard lane.withLock({ $0.queue })?.isHeldHere != true else { return }
      let question = question(of: event)
      change { machine in
        // The lane was free: what was cancelled before its body began is not to be waited for.
        machine.withdraw(before: id)
        machine.admit(id, question)
        machine.start(id)
      }
    case .succeeded, .failed: change { $0.settle(id, .returned) }
    case .cancelled:
      // The first that is heard of what was cancelled just when it was admitted.
      _ = HistoryFrame.hear()
      change { $0.settle(id, .cancelled) }
    case .ended: change { $0.settle(id, .ended) }
    }
  }

  private func question(of event: UseCaseEvent) -> HistoryQuestion {
    if event.type == UndoStep.self { return HistoryQuestion(.undo) }
    if event.type == RedoStep.self { return HistoryQuestion(.redo) }
    return HistoryFrame.hear()
  }
}

// MARK: - Recording

extension HistoryLedger {
  /// The body of a recorded use case has ended, with a response if there is a step.
  func leave(_ frame: HistoryFrame, with step: (any HistoryStep)?) {
    frame.end()
    switch (frame.role, step) {
    case (.part(let group), _): change { $0.closePart(step, in: group) }?.resume()
    case (_, let step?): record(step, in: frame)
    case (_, nil): discard(change { $0.fail() }, in: frame)
    }
  }

  private func record(_ step: any HistoryStep, in frame: HistoryFrame) {
    let now = elapsed()
    guard let (earlier, barrier) = read({ $0.mergeCandidate(at: now) }) else {
      return discard(change { $0.record(step, at: now) }, in: frame)
    }
    let merge = earlier.merging(step)
    let drops = change { $0.record(step, merge: merge, barrier: barrier, at: now) }
    // Its last reference is not to go under the lock.
    withExtendedLifetime(earlier) {}
    discard(drops, in: frame)
  }
}

// MARK: - Undo and redo

extension HistoryLedger {
  /// Does the move that has its turn, as far as it goes. Returns the plan when it is done.
  ///
  /// It is inlined into its three callers, as its parts are into it: each function that waits costs
  /// a frame on the stack of the task.
  @inline(__always)
  func move() async throws -> Machine.Plan {
    var plan = change { $0.begin() }
    if let error = plan.error { throw error }
    if plan.records.isEmpty { return plan }
    let frame = HistoryFrame(.body, of: self, in: nil)
    var failure: (any Error)?
    do {
      try await HistoryFrame.local.withValue(.inside(frame)) {
        while let step = plan.next() {
          if plan.isRedo {
            plan.redid(try await step.redo())
          } else {
            try await step.undo()
            plan.undid()
          }
        }
      }
    } catch {
      failure = error
    }
    plan.close()
    let drops = change { machine in
      // At once with the move: nobody is to find the lane held and nothing running there.
      frame.end()
      return machine.finish(&plan)
    }
    discard(drops, in: frame)
    if let failure { throw failure }
    return plan
  }
}

extension HistoryPlan<any HistoryStep> {
  /// What clients see of those that have been undone or redone.
  var entries: [HistoryEntry] { (0..<moved).map { entry(at: $0) } }

  var entry: HistoryEntry? { moved > 0 ? entry(at: 0) : nil }

  private func entry(at index: Int) -> HistoryEntry {
    let record = records[index]
    return record.entry(applied: isRedo ? record.size : 0) { $0.title }
  }
}

extension Clock where Duration == Swift.Duration {
  /// Returns how long it is since now.
  fileprivate func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: self.now) }
  }
}
