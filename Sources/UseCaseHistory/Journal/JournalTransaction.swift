import UseCaseInternals

/// One execution, undo or redo whose body runs in a transaction of the journal.
///
/// It takes effect once, however often an interceptor runs its body. An attempt after the one that
/// was committed returns what that has returned.
final class JournalTransaction: Sendable {
  typealias Step = any HistoryStep
  /// The step that the body has made or undone, and, if it has made it, the same step as the journal
  /// keeps it.
  fileprivate typealias Effects = (step: Step, stored: Step?)

  fileprivate enum State {
    /// No attempt runs, and none was committed. Next is `running`.
    case open
    /// The transaction runs the body. Next is `failed`, or `returned`.
    case running
    /// The body has thrown. Next is `open`.
    case failed(any Error)
    /// The body has returned, and its record is to be committed. Next is `committed`, or `open`.
    case returned(Effects, JournalWriter.Record)
    /// Final.
    case committed(Effects)
  }

  let id: HistoryEntry.ID
  private let writer: JournalWriter
  private let database: any TransactionalJournal
  /// Tells the journal of the step, and returns one that was made as the journal keeps it.
  private let note: @Sendable (Step) -> Step?
  private let state = Lock(State.open)

  init(
    _ id: HistoryEntry.ID, _ writer: JournalWriter, in database: any TransactionalJournal,
    _ note: @escaping @Sendable (Step) -> Step?
  ) {
    (self.id, self.writer, self.database, self.note) = (id, writer, database, note)
  }

  /// The step that the body has made, as the journal keeps it. Nil before it is committed.
  var stored: Step? { effects?.stored }

  private var effects: Effects? {
    if case .committed(let effects) = state.withLock({ $0 }) { effects } else { nil }
  }

  /// Runs the body in a transaction. If another one has the journal, this waits for it.
  ///
  /// - Throws: The error of the body, or of the transaction. The facts of the step are withdrawn.
  func run(_ body: @Sendable () async throws -> Step) async throws -> Step {
    try writer.check(id)
    await writer.takeTurn()
    defer { writer.endTurn() }
    if let effects { return effects.step }
    do {
      try await database.transaction { try await self.attempt(body) }
      guard let (step, record) = state.withLock({ $0.commit() }) else {
        throw misuse("A transaction returns, and its body has not.")
      }
      writer.commit(record)
      return step
    } catch {
      switch state.withLock({ $0.fail() }) {
      case .failed(let failure):
        writer.withdraw(id, of: nil)
        throw failure
      case .returned(_, let record): writer.withdraw(id, of: record)
      case .open, .running, .committed: writer.withdraw(id, of: nil)
      }
      throw error
    }
  }

  /// Returns the record of the attempt.
  private func attempt(_ body: @Sendable () async throws -> Step) async throws -> [UInt8] {
    guard state.withLock({ $0.begin() }) else {
      throw misuse("A transaction runs its body twice.")
    }
    do {
      let step = try await body()
      let stored = note(step)
      let record = writer.takeRecord()
      state.withLock { $0.end((step, stored), record) }
      return record.bytes
    } catch {
      state.withLock { $0.end(error) }
      throw error
    }
  }

  private func misuse(_ sentence: String) -> HistoryJournalError {
    HistoryJournalError(.cannotWrite, cause: HistoryFact.Malformed(sentence))
  }
}

extension JournalTransaction.State {
  fileprivate typealias Effects = JournalTransaction.Effects

  /// The journal runs the body. Returns false if it has done so.
  fileprivate mutating func begin() -> Bool {
    guard case .open = self else { return false }
    self = .running
    return true
  }

  /// The body has returned.
  fileprivate mutating func end(_ effects: Effects, _ record: JournalWriter.Record) {
    self = .returned(effects, record)
  }

  /// The body has thrown.
  fileprivate mutating func end(_ error: any Error) { self = .failed(error) }

  /// The transaction has returned. Returns nil if the body has not.
  fileprivate mutating func commit() -> (
    step: JournalTransaction.Step, record: JournalWriter.Record
  )? {
    guard case .returned(let effects, let record) = self else { return nil }
    self = .committed(effects)
    return (effects.step, record)
  }

  /// The transaction has failed. Returns how far it had come, to be released outside of the lock.
  fileprivate mutating func fail() -> Self {
    defer { self = .open }
    return self
  }
}
