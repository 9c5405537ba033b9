import Synchronization
import UseCase
import UseCaseInternals

/// Keeps the machine of a history behind its lock, and carries out its decisions.
///
/// The lane informs the ledger with its own lock held, so the order of locks is: first the lane,
/// then the ledger. While the lock of the ledger is held, no method of the lane is called, and no
/// code of a client runs.
final class HistoryLedger: Sendable {
  typealias Waiter = UnsafeContinuation<Void, Never>
  typealias Machine = HistoryMachine<any HistoryStep, Waiter>

  /// The identity of the history. Unlike an address, it is never used again.
  let history = HistoryEntry.ID.next()
  private let machine: Lock<Machine>
  private let changes = ChangeSignal()
  private let elapsed: @Sendable () -> Duration
  /// Whether something was admitted, and the clock was not read yet.
  private let isUntimed = Atomic(false)
  /// Whether an operation has left, and the journal was not told yet.
  private let isUnwritten = Atomic(false)
  /// Writes the facts of the machine. Nil in a history that ends with its process.
  let journal: JournalWriter?

  init(limit: Int?, mergeWindow: Duration, clock: any Clock<Duration>, journal: JournalWriter?) {
    self.journal = journal
    machine = Lock(Machine(limit: limit, mergeWindow: mergeWindow))
    elapsed = Stopwatch(clock).elapsed
  }

  deinit { journal?.historyIsGone() }

  func read<Value: Sendable>(_ body: (borrowing Machine) -> Value) -> Value {
    machine.withLock { body($0) }
  }

  /// Changes the machine, and then wakes the readers of its states.
  @discardableResult
  func change<Value: ~Copyable & Sendable>(_ body: (inout Machine) -> Value) -> Value {
    let value = machine.withLock { machine in
      let value = body(&machine)
      // Under the lock, so that the journal has the same order.
      if let journal, let facts = machine.takeFacts() { journal.put(facts) }
      return value
    }
    changes.poke()
    return value
  }

  /// Makes entries leave. The journal is written soon, because nobody waits for it.
  func drop(_ body: (inout Machine) -> Machine.Drops) {
    discard(change(body))
    journal?.start()
  }

  func discard(_ drops: consuming Machine.Drops) {
    if let journal { return journal.discard(drops) }
    for index in drops.indices { drops[index].removeAll { $0.discard($1) } }
  }

  /// Discards the entries that the end of a body has dropped. The body still holds the lane, but
  /// its frame is over, so an operation that `discard` executes is treated like one of a task that
  /// the body has left behind.
  func discard(_ drops: consuming Machine.Drops, in frame: HistoryFrame) {
    if drops.isEmpty { return }
    if let journal { return journal.discard(drops) }
    HistoryFrame.local.withValue(frame) {
      // Handed over, because a copy of the drops is a copy of every entry.
      let all = drops
      drops = []
      discard(consume all)
    }
  }
}

// MARK: - Ids

extension HistoryLedger {
  /// The ids that earlier launches have used go up to this number.
  private var firstNumber: UInt64 { journal?.firstNumber ?? 0 }

  func id(of operation: UseCaseOperationID) -> HistoryEntry.ID {
    HistoryEntry.ID(operation, above: firstNumber)
  }

  func operation(of id: HistoryEntry.ID) -> UseCaseOperationID {
    UseCaseOperationID(number: id.number - firstNumber)
  }

  func nextID() -> HistoryEntry.ID { .next(above: firstNumber) }
}

// MARK: - The lane

extension HistoryLedger: QueueDelegate {
  func admitted(_ operation: any AdmittedOperation) {
    let id = id(of: operation.id)
    let words = operation.description?.words
    if let move = words as? HistoryMove {
      machine.withLock { $0.admit(id, move) }
    } else {
      // Any other one may be a wrapper of a client's around a recorded use case.
      machine.withLock {
        $0.admit(id, operation, isUncertain: !(words is ExecutionWords))
      }
      isUntimed.store(true, ordering: .relaxed)
    }
  }

  func started(_ id: UseCaseOperationID) { machine.withLock { $0.start(self.id(of: id)) } }

  func left(_ id: UseCaseOperationID, hasSucceeded: Bool) {
    let id = self.id(of: id)
    machine.withLock { $0.leave(id, hasSucceeded: hasSucceeded) }
    if journal?.left(id) == true { isUnwritten.store(true, ordering: .relaxed) }
  }

  func unlocked() {
    // The clock may be a client's.
    if isUntimed.load(ordering: .relaxed) {
      isUntimed.store(false, ordering: .relaxed)
      let now = elapsed()
      machine.withLock { $0.time(now) }
    }
    if isUnwritten.load(ordering: .relaxed) {
      isUnwritten.store(false, ordering: .relaxed)
      journal?.start()
    }
    changes.poke()
  }

  func lineHere() -> UseCaseQueue? { groupHere?.line.queue }

  func objection(to useCaseType: any Any.Type) -> String? {
    guard useCaseType is any UndoableUseCase.Type, let groupHere,
      groupHere.operation == UseCaseQueue.operationHere
    else { return nil }
    return """
      \(useCaseType) is undoable, and executed in a group without being recorded, so its effect is in \
      no entry. Execute it by way of `recorded(in:)`, or of the `execute` of the history.
      """
  }

  /// A part waits in the line of the group. This is called with the line locked.
  func keepOpen(_ group: HistoryEntry.ID) { machine.withLock { _ = $0.groups.openPart(in: group) } }

  /// A part has left the line of the group. This is called with the line locked.
  func keepOpenNoLonger(_ group: HistoryEntry.ID) {
    machine.withLock { $0.groups.leaveLine(of: group) }
  }

  /// The body of the group in which the code runs.
  private var groupHere: (line: GroupLine, operation: UseCaseOperationID?)? {
    guard let frame = HistoryFrame.innermost?.running(of: history),
      case .group(let line) = frame.role
    else { return nil }
    return (line, frame.operation)
  }
}

// MARK: - Reading

extension HistoryLedger {
  var state: HistoryState { state(in: .everything) }

  func state(in document: HistoryFootprint) -> HistoryState {
    if document != .everything { describeWaiting() }
    while true {
      let (snapshot, undo, redo) = machine.withLock { machine in
        let (state, undo, redo) = machine.snapshot(of: document)
        return (state, undo.flatMap(machine.label), redo.flatMap(machine.label))
      }
      var state = snapshot
      state.undoTitle = undo?.title
      state.redoTitle = redo?.title
      // An execution lets go of its title when it ends. By then the history is another.
      if state.canUndo == (state.undoTitle != nil) { return state }
      if read({ $0.version }) == state.version { return state }
    }
  }

  var entries: [HistoryEntry] {
    let (pool, inDoubt) = read { ($0.pool, $0.inDoubt) }
    var entries = pool.applied.records.map { $0.entry(applied: $0.size) }
    if let partial = pool.partial, let newest = pool.applied.last {
      entries[entries.count - 1] = newest.entry(applied: partial)
    }
    for record in inDoubt {
      let index = entries.lastIndex { $0.id < record.id }.map { $0 + 1 } ?? 0
      entries.insert(record.entry(applied: 1), at: index)
    }
    return entries + pool.undone.records.reversed().map { $0.entry(applied: 0) }
  }

  func entry(of execution: HistoryEntry.ID) -> HistoryEntry? {
    read { $0.pool.entry(of: execution) }.map { $0.record.entry(applied: $0.applied) }
  }

  func step(of entry: HistoryEntry.ID) -> (any HistoryStep)? {
    let step = read { $0.pool.recordOrPart(entry) }?.content.step
    return (step as? StoredStep).map { try? $0.step } ?? step
  }

  func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    read { $0.pool.blockers(ofUndoing: entry) }
  }

  /// Asks the executions that wait what they are going to touch.
  func describeWaiting() {
    let waiting = read { $0.line.undescribed }
    if waiting.isEmpty { return }
    let footprints = waiting.map { id, operation in
      (id, (operation.description?.words as? ExecutionWords)?.footprint ?? .everything)
    }
    // Not released under the lock.
    let (left, all) = (machine.withLock { $0.describe(footprints) }, footprints)
    withExtendedLifetime((left, all)) {}
  }

  func states() -> AsyncStream<HistoryState> { changes.values { [weak self] in self?.state } }
}

extension HistoryLedger.Machine {
  /// The source of the title of an entry. The title is made outside of the lock.
  fileprivate enum Label: Sendable {
    case record(Record)
    /// An execution that waits or runs.
    case pending(any AdmittedOperation)

    var title: String? {
      switch self {
      case .record(let record): record.title
      case .pending(let operation):
        (operation.description?.words as? ExecutionWords)?.title
      }
    }
  }

  fileprivate func label(of entry: ID) -> Label? {
    if let operation = line.operation(of: entry) { return .pending(operation) }
    return pool.record(of: entry).map { .record($0.record) }
  }
}

// MARK: - The journal

extension HistoryLedger {
  /// The whole history, nil while something runs or waits to be written.
  var whole: HistoryFact.Whole? {
    machine.withLock { machine in
      guard !machine.line.isRunning, let last = journal?.lastIfQuiet else { return nil }
      return HistoryFact.Whole(pool: machine.pool, inDoubt: machine.inDoubt, last: last)
    }
  }

  /// Has the journal written anew whenever it has become too long.
  func keepJournalShort() {
    journal?.rewriteWhenTooLong { [weak self] journal in
      self?.whole?.facts(newest: journal.nextID()) { journal.bytes(of: $0) }
    }
  }
}

extension HistoryLedger {
  /// An operation has come to its end on the lane. Returns when the journal knows how.
  @inline(never)
  nonisolated(nonsending) func untilWritten() async {
    guard let journal else { return }
    await journal.untilWritten()
  }
}

/// An execution or a group in the words of its use case.
struct ExecutionWords: Sendable {
  let title: String
  /// The things that it is going to touch, nil if only the response tells.
  var footprint: HistoryFootprint?
}

// MARK: - Recording

extension HistoryLedger {
  /// The fate of a body that has returned: whether it merges with the newest entry.
  struct Fate: Sendable {
    /// Not released under the lock, and nor are its step and the keys of its footprint.
    fileprivate var earlier: Machine.Record?
    fileprivate var merging = HistoryMerging<Machine.Record.Content>.separate
    fileprivate var ticket: Int?
  }

  /// Asks the use case for the fate of the body. Tells the journal with what it merges.
  func fate(of step: any HistoryStep, in frame: HistoryFrame) -> Fate {
    guard case .body = frame.role,
      let (earlier, ticket) = machine.withLock({ $0.mergeCandidate() })
    else { return Fate() }
    let merging = earlier.content.step?.merging(step).map(Machine.Record.Content.init)
    return Fate(earlier: earlier, merging: merging ?? .separate, ticket: ticket)
  }

  /// The body of a recorded use case has ended, with a response if there is a step.
  func bodyEnded(_ frame: HistoryFrame, with step: (any HistoryStep)?, as fate: Fate? = nil) {
    frame.end()
    guard frame.isRecorded else { return }
    let (entry, holder) = (frame.entry, frame.holder)
    let record = step.map { Machine.Record(id: entry, content: .init($0)) }
    switch frame.role {
    case .body:
      guard let step, let record else {
        return discard(change { $0.fail(entry, by: holder) }, in: frame)
      }
      let fate = fate ?? self.fate(of: step, in: frame)
      discard(change { $0.record(record, by: holder, fate.merging, fate.ticket) }, in: frame)
    case .part(let group, _): change { $0.endPart(entry, record, in: group) }?.resume()
    case .answered, .group: break
    }
  }
}
