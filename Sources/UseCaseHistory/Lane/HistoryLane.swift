import UseCase
import UseCaseInternals

/// Keeps the machine of a history behind its lock, and carries out its decisions.
///
/// The queue informs the lane with its own lock held, so the order of locks is: first the queue, then
/// the lane. While the lock of the lane is held, no method of the queue is called, and no code of a
/// client runs.
final class HistoryLane: Sendable {
  typealias Machine = HistoryMachine<any HistoryStep>

  /// The identity of the history. Unlike an address, it is never used again.
  let history = HistoryEntry.ID(.next())
  private let machine: Lock<Machine>
  private let changes = ChangeSignal()
  private let elapsed: @Sendable () -> Duration
  /// The serial queue of the history, which keeps this as its delegate.
  private let queue = Lock(WeakQueue())
  /// Keeps the rows of the table. Nil in a history that ends with its process.
  let journal: JournalWriter?

  init(
    limit: Int?, mergeWindow: Duration, clock: any Clock<Duration>, journal: JournalWriter? = nil
  ) {
    machine = Lock(Machine(limit: limit, mergeWindow: mergeWindow))
    elapsed = Stopwatch(clock).elapsed
    self.journal = journal
  }

  /// The names by which an observer hears of the operations that have not ended.
  private let names = Lock<[UseCaseOperationID: String]>([:])

  private struct WeakQueue: Sendable {
    weak var queue: UseCaseQueue?
  }

  func follow(_ queue: UseCaseQueue) { self.queue.withLock { $0.queue = queue } }

  func read<Value: Sendable>(_ body: (inout Machine) -> Value) -> Value {
    machine.withLock { body(&$0) }
  }

  /// Changes the machine, lets go of what that has replaced, and wakes the readers of its states. Then
  /// tells the use cases what has left: with a journal, that is done once it is written.
  @discardableResult
  func change<Value: Sendable>(_ body: (inout Machine) -> Value) -> Value {
    var (value, trash, drops) = machine.withLock { machine in
      let value = body(&machine)
      return (value, machine.takeTrash(), machine.takeDrops())
    }
    changes.poke()
    if !drops.isEmpty { drops.discardAll() }
    return withExtendedLifetime(trash) { value }
  }

  // MARK: Ids

  /// The ids that earlier launches have used go up to this number.
  private var firstNumber: UInt64 { journal?.firstNumber ?? 0 }

  func id(of operation: UseCaseOperationID) -> HistoryEntry.ID {
    HistoryEntry.ID(number: operation.number &+ firstNumber)
  }

  /// The title of an execution that has not ended.
  func title(of id: HistoryEntry.ID) -> String { read { $0.asks[id]?.title } ?? "" }

  /// The id of the entry that the running operation becomes.
  var idHere: HistoryEntry.ID {
    guard let operation = UseCaseQueue.operationHere else {
      preconditionFailure("A body on the lane runs in an operation.")
    }
    return id(of: operation)
  }
}

// MARK: - The queue

/// The purpose of an operation on the lane, asked once, when it is executed.
///
/// A class, since a cast to a final class costs no more than a comparison.
final class HistoryWish: Sendable {
  enum Kind: Sendable {
    case execution(title: String, footprint: HistoryFootprint?, asked: Duration)
    case group(title: String)
    case move(HistoryMove)
  }

  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// The title of an execution or a group.
  var title: String {
    switch kind {
    case .execution(let title, _, _), .group(let title): title
    case .move: ""
    }
  }
}

extension ExecutionDescription {
  /// Traps for a use case that is not recorded, and has the queue of a recorded one as its own.
  func assureIsRecorded() {
    guard words is HistoryWish else {
      fatalError(
        """
        \(baseType) has the lane of a history as its queue, and is not recorded. Give it a queue of \
        its own, and call the recorded use case in its body.
        """)
    }
  }
}

extension HistoryLane {
  /// Asks the use case about an execution that is called.
  func wish<Base: UndoableUseCase>(_ useCase: Base, _ request: Base.Request) -> HistoryWish {
    HistoryWish(
      .execution(
        title: useCase.title(for: request), footprint: useCase.footprint(of: request),
        asked: elapsed()))
  }
}

extension HistoryLane: QueueDelegate {
  func admitted(_ operation: any AdmittedOperation) {
    let id = id(of: operation.id)
    switch (operation.description?.words as? HistoryWish)?.kind {
    case .execution(let title, let footprint, let asked):
      machine.withLock { $0.admit(id, title: title, footprint: footprint, at: asked) }
    case .group(let title):
      machine.withLock { $0.admit(id, title: title, footprint: nil, at: .zero) }
    case .move(let move): machine.withLock { $0.admit(id, move) }
    case nil: preconditionFailure("\(operation.useCaseType) is foreign on the lane.")
    }
  }

  func started(_ id: UseCaseOperationID) {
    machine.withLock { $0.start(self.id(of: id)) }
  }

  func left(_ id: UseCaseOperationID, hasSucceeded: Bool) {
    machine.withLock { $0.leave(self.id(of: id)) }
  }

  func neverBegins(_ id: UseCaseOperationID) { change { $0.leave(self.id(of: id)) } }

  func unlocked() { change { _ in } }

  func call() -> QueueCall {
    switch HistoryFrame.current(in: history)?.role {
    // A body may await a shared run. The calls of that run are inside of the body, but not in its slot.
    case .body, .answered: isHeldHere ? .inside : .on(Self.elsewhere)
    case .group(let line): isHeldHere ? .admit : line.parts.call(on: line.calls)
    case nil: .admit
    }
  }

  private static let elsewhere = UseCaseQueue()

  private var isHeldHere: Bool { queue.withLock { $0.queue }?.isHeldHere == true }

  func check(_ description: ExecutionDescription) { description.assureIsRecorded() }

  func name(of id: UseCaseOperationID) -> String? {
    if let name = names.withLock({ $0[id] }) { return name }
    guard let name = read({ $0.subject(of: self.id(of: id)) })?.name else { return nil }
    names.withLock { $0[id] = name }
    return name
  }

  /// Tells the observer, and forgets the name of what has ended.
  func telling(
    _ observer: @escaping @Sendable (UseCaseEvent) -> Void
  ) -> @Sendable (UseCaseEvent) -> Void {
    { [weak self] event in
      observer(event)
      if case .ended = event.kind { _ = self?.names.withLock { $0.removeValue(forKey: event.id) } }
    }
  }

  func isBodyHere() -> Bool { HistoryFrame.current(in: history) != nil }

  func objection(to useCaseType: any Any.Type) -> String? {
    GroupLine.objection(to: useCaseType)
  }
}

// MARK: - Reading

extension HistoryLane {
  func state(in document: HistoryFootprint) -> HistoryState {
    let (found, trash) = machine.withLock { machine in
      let found = machine.state(of: document)
      return (found, machine.takeTrash())
    }
    var state = found.state
    state.undoTitle = state.undoTitle ?? found.undo?.titleForUser
    state.redoTitle = state.redoTitle ?? found.redo?.titleForUser
    return withExtendedLifetime(trash) { state }
  }

  var entries: [HistoryEntry] {
    let table = read { $0.table }
    return table.applied.map { $0.entry(isApplied: true) }
      + table.undone.reversed().map { $0.entry(isApplied: false) }
  }

  func entry(of execution: HistoryEntry.ID) -> HistoryEntry? {
    read { $0.entry(of: execution) }.map { $0.row.entry(isApplied: $0.isApplied) }
  }

  var isBusy: Bool { read { $0.isBusy } }

  func states() -> AsyncStream<HistoryState> {
    changes.values { [weak self] in self?.state(in: .everything) }
  }
}

// MARK: - Recording

extension HistoryLane {
  /// The decision on a body that has returned.
  struct Fate: Sendable {
    let footprint: HistoryFootprint
    fileprivate var merging =
      HistoryMerging<(step: any HistoryStep, title: String, footprint: HistoryFootprint)>.separate
    fileprivate var ticket: Int?
    /// Not released under the lock.
    fileprivate var earlier: Machine.Row?
  }

  /// Asks the use case what the step touches, and whether it merges with the newest entry.
  func fate(of step: any HistoryStep) -> Fate {
    var fate = Fate(footprint: step.footprint)
    if let (earlier, ticket) = read({ $0.mergeCandidate() }) {
      (fate.ticket, fate.earlier) = (ticket, earlier)
      fate.merging = (earlier.step?.merging(step) ?? .separate).map {
        ($0, $0.title, $0.footprint)
      }
    }
    return fate
  }

  /// The body of the execution on the lane has returned.
  nonisolated(nonsending) func record(_ step: any HistoryStep) async {
    let fate = fate(of: step)
    change { $0.record(step, fate) }
    await journal?.settle(self)
  }

  /// The body of the execution on the lane has thrown.
  nonisolated(nonsending) func fail(_ entry: HistoryEntry.ID) async {
    change { $0.fail(entry) }
    await journal?.settle(self)
  }

  /// The body of a part has returned, or it has thrown.
  nonisolated(nonsending) func endPart(_ entry: HistoryEntry.ID, _ step: (any HistoryStep)?) async {
    let answer = step.map { (step: $0, footprint: $0.footprint) }
    change { $0.endPart(entry, answer) }
    await journal?.settle(self)
  }
}

extension HistoryLane.Machine {
  /// The subject of an operation that has not done its work.
  struct Subject: Sendable {
    let move: HistoryMove?
    /// The title of an execution or a group, or of one that is to be undone.
    let title: String?
    /// The entry that is to be undone or redone, if it is there.
    let row: Row?

    /// The name by which an observer hears of it.
    var name: String {
      let title = title ?? row?.titleForUser
      let verb: String
      switch move {
      case nil: return title ?? ""
      case .move: return "Move"
      case .undo, .undoEntry, .undoIn: verb = "Undo"
      case .redo, .redoEntry, .redoIn: verb = "Redo"
      }
      return title.map { "\(verb) \($0)" } ?? verb
    }
  }

  func subject(of id: ID) -> Subject? {
    guard let ask = asks[id] else { return nil }
    guard let target = ask.entry else {
      return Subject(move: ask.move, title: ask.move == nil ? ask.title : nil, row: nil)
    }
    let title = asks[target].flatMap { $0.move == nil ? $0.title : nil }
    return Subject(move: ask.move, title: title, row: table.row(of: target)?.row)
  }

  mutating func record(_ step: any HistoryStep, _ fate: HistoryLane.Fate) {
    record(step, touching: fate.footprint, fate.merging, fate.ticket)
  }
}

// MARK: - Leaving

extension HistoryLane {
  /// Makes entries leave. A task writes the journal, since nobody waits for it.
  func drop(_ body: (inout Machine) -> Void) {
    change(body)
    journal?.start(self)
  }

  func step(of entry: HistoryEntry.ID) -> (any HistoryStep)? {
    let step = read { $0.table.rowOrPart(entry) }?.step
    return (step as? StoredStep).map { try? $0.step } ?? step
  }

  /// The news for the journal: the rows that have changed, and the head. Beside it, the rows that leave.
  typealias Owed = (
    rows: [HistoryEntry.ID: Machine.Row?], head: Machine.Table.Head, leaving: [Machine.Row]
  )

  func takeOwed() -> Owed { machine.withLock { $0.takeOwed() } }

  /// The rows could not be written. Rows that have changed since are newer.
  func owe(_ rows: [HistoryEntry.ID: Machine.Row?]) {
    let released = machine.withLock { $0.owe(rows) }
    withExtendedLifetime(released) {}
  }

  /// `discard` has returned for these.
  func haveLeft(_ rows: [Machine.Row]) {
    let released = machine.withLock { $0.haveLeft(Set(rows.map(\.id))) }
    withExtendedLifetime(released) {}
  }
}

extension HistoryLane {
  /// Returns the news for the journal as they would be after this event.
  func owed(after event: (inout Machine) -> Void) -> Owed {
    var machine = read { $0 }
    event(&machine)
    return machine.takeOwed()
  }
}
