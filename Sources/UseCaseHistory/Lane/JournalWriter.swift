import UseCase
import UseCaseInternals

/// Writes the rows of a history that differ from those in its journal, one change at a time.
///
/// A write that fails leaves its rows owed, and the next one writes them. So what is owed does not
/// grow with the number of tries.
final class JournalWriter: Sendable {
  typealias Waiter = UnsafeContinuation<Void, Never>
  typealias Machine = HistoryLane.Machine

  fileprivate struct State: Sendable {
    /// Whether somebody has the journal.
    var isTaken = false
    /// The tasks that wait for it, in order.
    var waiters: ArraySlice<Waiter> = []
    /// The version of the rows in the journal.
    var version: Int64
    /// The head in the journal.
    var head: HeadRow
    /// A change that may have been written, or not.
    var doubtful: HistoryChange?
    /// The rows that a transaction has written. They need not be written again.
    var committed: [Int64: [UInt8]?] = [:]
    /// The executions whose response could not be encoded.
    var omitted: [HistoryEntry.ID: Machine.Row] = [:]
    /// Why the last write failed.
    var failure: HistoryJournalError?
    /// Why nothing can be written any more.
    var end: HistoryJournalError?
    /// The report on the opening.
    var recovery = HistoryRecovery()
  }

  let journal: any HistoryJournal
  let kinds: JournalKinds
  /// The journal, if it has transactions.
  let database: (any TransactionalJournal)?
  /// The ids that earlier launches have used go up to this number.
  let firstNumber: UInt64
  private let state: Lock<State>

  /// Creates the writer of a journal that has rows of this version, with this head, and this newest id
  /// in them.
  init(
    _ journal: any HistoryJournal, _ kinds: JournalKinds, version: Int64, head: HeadRow,
    newest: UInt64
  ) {
    (self.journal, self.kinds) = (journal, kinds)
    database = journal as? any TransactionalJournal
    firstNumber = max(head.newestID, newest)
    state = Lock(State(version: version, head: head))
  }

  deinit { OpenJournals.giveBack(journal) }

  /// Why the last write failed.
  var error: HistoryJournalError? {
    state.withLock { state in
      state.end ?? state.failure
        ?? (state.omitted.isEmpty ? nil : HistoryJournalError(.cannotWrite))
    }
  }

  /// Why nothing can be written any more.
  var fatalError: HistoryJournalError? { state.withLock { $0.end } }

  var recovery: HistoryRecovery { state.withLock { $0.recovery } }

  func recovered(_ recovery: HistoryRecovery) { state.withLock { $0.recovery = recovery } }

  /// Nothing is written from now on.
  func end(_ error: HistoryJournalError) {
    let old = state.withLock { state in
      defer { state.end = state.end ?? error }
      return state.end
    }
    withExtendedLifetime(old) {}
  }

  // MARK: Turns

  /// Runs `body` while nobody else uses the journal.
  private nonisolated(nonsending) func inTurn<Value: Sendable, Failure: Error>(
    _ body: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if !state.withLock({ $0.take() }) {
      await withUnsafeContinuation { waiter in state.withLock { $0.take(waiter) }?.resume() }
    }
    defer { state.withLock { $0.giveBack() }?.resume() }
    return try await body()
  }

  // MARK: Writing

  /// Writes all that is owed, before a body begins.
  nonisolated(nonsending) func intent(_ lane: HistoryLane) async throws(HistoryJournalError) {
    try await inTurn { () async throws(HistoryJournalError) in _ = try await write(lane) }
  }

  /// Writes all that is owed, as an operation ends, and tells the use cases what has left.
  nonisolated(nonsending) func settle(_ lane: HistoryLane) async {
    await inTurn { _ = await writeAndDiscard(lane) }
  }

  /// Writes all that is owed, discards what has left, and writes that it was discarded.
  nonisolated(nonsending) func settleAll(_ lane: HistoryLane) async {
    await inTurn {
      if await writeAndDiscard(lane) { _ = try? await write(lane) }
    }
  }

  /// Begins to write what nobody waits for.
  func start(_ lane: HistoryLane) {
    Task { await settleAll(lane) }
  }

  /// Returns whether it was written.
  private nonisolated(nonsending) func writeAndDiscard(_ lane: HistoryLane) async -> Bool {
    guard let leaving = try? await write(lane) else { return false }
    let rows = leaving.filter { ($0.step as? StoredStep)?.isToBeDiscardedLater != true }
    for row in rows { row.step?.discard(row.reason) }
    if !rows.isEmpty { lane.haveLeft(rows) }
    return true
  }

  /// Writes all that is owed. Returns the rows that leave.
  private nonisolated(nonsending) func write(
    _ lane: HistoryLane
  ) async throws(HistoryJournalError) -> [Machine.Row] {
    if let end = state.withLock({ $0.end }) { throw end }
    try await settleDoubt()
    retryOmitted(lane)
    let owed = lane.takeOwed()
    do {
      if let change = try change(of: owed) { try await write(change) }
      return owed.leaving
    } catch {
      lane.owe(owed.rows)
      throw fail(error)
    }
  }

  /// Keeps the error as the last one.
  private func fail(_ error: any Error) -> HistoryJournalError {
    let failure = HistoryJournalError(.cannotWrite, for: error)
    let old = state.withLock { state in
      defer {
        state.failure = failure
        if failure.reason == .stale { state.end = failure }
      }
      return state.failure
    }
    return withExtendedLifetime(old) { failure }
  }

  private nonisolated(nonsending) func write(_ change: HistoryChange) async throws {
    do {
      // The task of the operation may be cancelled.
      try await Task { [journal] in try await journal.write(change) }.value
    } catch {
      if (error as? HistoryJournalError)?.reason != .stale {
        state.withLock { $0.doubtful = change }
      }
      throw error
    }
    wrote(change)
  }

  private func wrote(_ change: HistoryChange, inTransaction: Bool = false) {
    let head = change.rows.first { $0.key == RowFormat.headKey }?.bytes.flatMap { HeadRow($0) }
    let old = state.withLock { state in
      state.version = change.version &+ 1
      if let head { state.head = head }
      state.doubtful = nil
      state.committed = [:]
      if inTransaction { for row in change.rows { state.committed[row.key] = .some(row.bytes) } }
      defer { state.failure = nil }
      return state.failure
    }
    withExtendedLifetime(old) {}
  }

  /// After a write that has failed: was the change made after all?
  private nonisolated(nonsending) func settleDoubt() async throws(HistoryJournalError) {
    guard let change = state.withLock({ $0.doubtful }) else { return }
    do {
      let rows = try await Task { [journal] in try await journal.read() }.value
      if rows.version == change.version {
        state.withLock { $0.doubtful = nil }
      } else if rows.version == change.version &+ 1,
        change.rows.allSatisfy({ rows.rows[$0.key] == $0.bytes })
      {
        wrote(change)
      } else {
        throw HistoryJournalError(.stale)
      }
    } catch {
      throw fail(error)
    }
  }

  // MARK: Rows

  /// Ids are reserved ahead in blocks: one that a body has seen is never given again.
  private static let block: UInt64 = 1_000

  /// Returns the change that is owed, nil if there is none.
  private func change(of owed: HistoryLane.Owed) throws -> HistoryChange? {
    let (version, written, committed) = state.withLock { ($0.version, $0.head, $0.committed) }
    var rows: [HistoryChange.Row] = []
    var newest = written.newestID
    for (id, row) in owed.rows {
      newest = max(newest, id.number)
      // The next launch would refuse it.
      if row?.stamp ?? 0 > RowFormat.highestID { throw HistoryJournalError(.cannotWrite) }
      let key = Int64(clamping: id.number)
      let bytes = try row.flatMap(journaled).map { try self.bytes(of: $0) }
      if let old = committed[key], old == bytes { continue }
      rows.append(HistoryChange.Row(key: key, bytes: bytes))
    }
    if newest > written.newestID { newest += Self.block }
    let head = HeadRow(owed.head, newestID: newest)
    if !head.isInRange { throw HistoryJournalError(.cannotWrite) }
    if head != written || version == 0 && !rows.isEmpty {
      rows.append(HistoryChange.Row(key: RowFormat.headKey, bytes: head.bytes))
    }
    return rows.isEmpty ? nil : HistoryChange(version: version, rows: rows)
  }

  /// The row as the journal is to have it, nil for none. With transactions, an execution, an undo or a
  /// redo that runs has had no effect yet.
  private func journaled(_ row: Machine.Row) -> Machine.Row? {
    guard database != nil, !row.isGroup, row.isTransient else { return row }
    var row = row
    switch row.state {
    case .executing: return nil
    case .undoing: row.state = .applied
    case .redoing: row.state = .undone
    case .applied, .undone, .leaving: break
    }
    return row
  }

  private func bytes(of row: Machine.Row) throws -> [UInt8] {
    guard !row.isGroup else { return row.bytes(nil, title: try kinds.coder.encode(row.title)) }
    guard let step = row.step as? StoredStep else {
      preconditionFailure("All steps of a history with a journal are stored steps.")
    }
    let bytes = row.bytes(step.pair, title: [])
    let lacks = step.lacksResponse && row.state != .leaving
    let old = state.withLock { state in
      defer { state.omitted[row.id] = lacks ? row : nil }
      return state.omitted[row.id]
    }
    return withExtendedLifetime(old) { bytes }
  }

  /// The rows of responses that can be encoded now are owed again.
  private func retryOmitted(_ lane: HistoryLane) {
    let omitted = state.withLock { $0.omitted }
    for (id, row) in omitted {
      guard let step = row.step as? StoredStep, step.pair.response != nil else { continue }
      let old = state.withLock { $0.omitted.removeValue(forKey: id) }
      lane.change { $0.oweAgain([id]) }
      withExtendedLifetime(old) {}
    }
  }
}

extension JournalWriter.State {
  mutating func take() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  /// Keeps the waiter. Returns it if nobody has the journal any more.
  mutating func take(_ waiter: JournalWriter.Waiter) -> JournalWriter.Waiter? {
    if take() { return waiter }
    waiters.append(waiter)
    return nil
  }

  /// Returns whose turn it is.
  mutating func giveBack() -> JournalWriter.Waiter? {
    isTaken = !waiters.isEmpty
    return waiters.popFirst()
  }
}

// MARK: - Executions

extension JournalWriter {
  /// Returns the intent of an execution.
  func draft<Base: UndoableUseCase>(
    of type: Base.Type, _ request: Base.Request, title: String
  ) throws -> StoredStep {
    try StoredStep(request, by: type, title: title, kinds)
  }

  /// An event of the machine, which is tried on a copy first.
  typealias Event = @Sendable (inout Machine) -> Void

  /// The step of an operation that a transaction has committed.
  typealias Committed = Lock<(any HistoryStep)?>

  /// Runs a body in a transaction, together with the change of the rows that its end brings. That end
  /// has happened when this returns. `body` makes or undoes a step, and `end` makes the event of that.
  nonisolated(nonsending) func transact(
    _ id: HistoryEntry.ID, _ lane: HistoryLane, in database: any TransactionalJournal,
    once committed: borrowing Committed, _ body: @Sendable () async throws -> any HistoryStep,
    end: @Sendable (any HistoryStep) -> Event
  ) async throws -> any HistoryStep {
    try await inTurn {
      // The step is committed once, however attempts overlap.
      if let step = committed.withLock({ $0 }) { return step }
      if let end = state.withLock({ $0.end }) { throw end }
      try await settleDoubt()
      try await reserve(id, lane)
      let run = TransactionRun()
      let before = state.withLock { $0.omitted }
      do {
        try await database.transaction {
          try run.begin()
          do {
            let step = try await body()
            let event = end(step)
            let change = try self.change(of: lane.owed(after: event))
            let version = self.version
            let whole = change ?? HistoryChange(version: version, rows: [])
            run.ended(step, event, whole)
            return whole
          } catch {
            run.failed(error)
            throw error
          }
        }
      } catch {
        // If the change is not made, the same responses are missing as before it.
        let after = setOmitted(before)
        if let own = run.error { throw own }
        guard let change = run.result?.change else { throw error }
        if (error as? HistoryJournalError)?.reason == .stale { throw fail(error) }
        state.withLock { $0.doubtful = change }
        do throws(HistoryJournalError) {
          try await settleDoubt()
        } catch let doubt {
          // It may be in the database, and is not in the table: a later write would delete it.
          self.end(doubt)
          throw doubt
        }
        guard version > change.version else { throw error }
        setOmitted(after)
      }
      guard let (step, event, change) = run.result else {
        throw run.error ?? HistoryJournalError(.cannotWrite)
      }
      wrote(change, inTransaction: true)
      lane.change { machine in
        event(&machine)
        // A change that has come in between may have made these rows other than those written.
        machine.oweAgain(
          change.rows.filter { $0.key != RowFormat.headKey }
            .map { HistoryEntry.ID(number: UInt64($0.key)) })
      }
      committed.withLock { $0 = step }
      return step
    }
  }

  private var version: Int64 { state.withLock { $0.version } }

  private typealias RowsByID = [HistoryEntry.ID: Machine.Row]

  /// Sets the rows whose response is missing, and returns the old ones.
  @discardableResult
  private func setOmitted(_ omitted: RowsByID) -> RowsByID {
    state.withLock { state in
      defer { state.omitted = omitted }
      return state.omitted
    }
  }

  /// Writes ahead that the id was given.
  private nonisolated(nonsending) func reserve(
    _ id: HistoryEntry.ID, _ lane: HistoryLane
  ) async throws {
    let (version, head) = state.withLock { ($0.version, $0.head) }
    guard id.number > head.newestID else { return }
    let new = HeadRow(head.head, newestID: id.number + Self.block)
    do {
      if !new.isInRange { throw HistoryJournalError(.cannotWrite) }
      try await write(
        HistoryChange(
          version: version,
          rows: [HistoryChange.Row(key: RowFormat.headKey, bytes: new.bytes)]))
    } catch {
      throw fail(error)
    }
  }
}

/// One call of `transaction`.
private final class TransactionRun: Sendable {
  private struct State: Sendable {
    var hasBegun = false
    var error: (any Error)?
    var result: (any HistoryStep, JournalWriter.Event, HistoryChange)?
  }

  private let state = Lock(State())

  func begin() throws {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if !isFirst { throw HistoryJournalError(.cannotWrite) }
  }

  func failed(_ error: any Error) { state.withLock { $0.error = error } }

  func ended(
    _ step: any HistoryStep, _ event: @escaping JournalWriter.Event, _ change: HistoryChange
  ) {
    state.withLock { $0.result = (step, event, change) }
  }

  var error: (any Error)? { state.withLock { $0.error } }
  var result: (step: any HistoryStep, event: JournalWriter.Event, change: HistoryChange)? {
    state.withLock { $0.result }
  }
}

// MARK: - One history for each journal

/// The journals that are objects, and have a history.
enum OpenJournals {
  private static let all = Lock<Set<ObjectIdentifier>>([])

  /// Returns false if it has a history.
  static func take(_ journal: any HistoryJournal) -> Bool {
    guard let id = identity(of: journal) else { return true }
    return all.withLock { $0.insert(id).inserted }
  }

  static func giveBack(_ journal: any HistoryJournal) {
    guard let id = identity(of: journal) else { return }
    _ = all.withLock { $0.remove(id) }
  }

  private static func identity(of journal: any HistoryJournal) -> ObjectIdentifier? {
    type(of: journal) is AnyObject.Type ? ObjectIdentifier(journal as AnyObject) : nil
  }
}
