import Synchronization
import UseCaseInternals

/// Writes the facts of a history to its journal, in order, in tasks of its own. The cancellation of
/// a task that waits for that changes nothing.
final class JournalWriter: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Waiter = UnsafeContinuation<HistoryJournalError?, Never>
  /// Discards steps, and returns the ids of those that are done with.
  typealias Chore = @Sendable () -> [ID]
  /// Facts, and the bytes of their record.
  typealias Record = (facts: [NumberedFact], bytes: [UInt8])
  private typealias Batch = JournalQueue<Waiter, Chore>.Batch

  let journal: any HistoryJournal
  /// The journal, if bodies run in its transactions.
  let database: (any TransactionalJournal)?
  /// The same, without a copy of the existential.
  let hasTransactions: Bool
  /// The journal, if it is one that may append at once.
  private let prompt: (any PromptJournal)?
  let kinds: [String: any JournaledUseCase]
  /// The same by their types.
  private let kindsByType: [ObjectIdentifier: any JournaledUseCase]
  /// The approximate size, in a journal, of the executions that are alive.
  let live = Atomic(0)

  private let queue: Lock<JournalQueue<Waiter, Chore>>
  /// The bytes of the journal.
  private let size = Atomic(0)
  /// The bytes of a journal just written anew, without its executions.
  private let rest = Atomic(0)
  /// Pairs that have left unread, because no use case can read them. They are still to be
  /// discarded.
  private let owed = Lock<[HistoryFact]>([])
  /// Returns the facts of the whole history, nil while something runs.
  private let whole = Lock<(@Sendable (JournalWriter) -> [HistoryFact]?)?>(nil)

  /// The journals of the histories that exist. Only an object can be told from another.
  private static let inUse = Lock<Set<ObjectIdentifier>>([])
  private let hasJournal = Atomic(false)
  private let first = Atomic<UInt64>(0)

  init(_ journal: any HistoryJournal, _ kinds: [String: any JournaledUseCase]) {
    (self.journal, self.kinds) = (journal, kinds)
    kindsByType = Dictionary(kinds.map { (ObjectIdentifier(type(of: $1)), $1) }) { one, _ in one }
    database = journal as? any TransactionalJournal
    hasTransactions = database != nil
    prompt = (journal as? any PromptJournal).flatMap { $0.isPrompt ? $0 : nil }
    queue = Lock(JournalQueue())
  }

  deinit { giveBack() }

  /// Throws if the journal is that of another history.
  func take() throws {
    guard let object else { return }
    guard Self.inUse.withLock({ $0.insert(object).inserted }) else {
      throw HistoryJournalError(.inUse)
    }
    hasJournal.store(true, ordering: .relaxed)
  }

  /// Another history can have the journal from now on.
  func giveBack() {
    guard let object, hasJournal.exchange(false, ordering: .relaxed) else { return }
    Self.inUse.withLock { _ = $0.remove(object) }
  }

  private var object: ObjectIdentifier? {
    type(of: journal) is AnyClass ? ObjectIdentifier(journal as AnyObject) : nil
  }

  /// The ids of this launch are above this number. So the ids of a journal do not move those of
  /// another one.
  var firstNumber: UInt64 { first.load(ordering: .relaxed) }

  /// The ids of earlier launches go up to this one. Call this before any operation is executed.
  func continueIDs(after newest: ID) {
    // No id that comes after has more than 63 bits.
    first.store(min(newest.number, HistoryFact.firstNumberBeyond), ordering: .relaxed)
  }

  func nextID() -> ID { .next(above: firstNumber) }

  var error: HistoryJournalError? { queue.withLock { $0.error } }

  /// The number of the last fact, if the whole history can be written anew. Ask for it with the
  /// history locked.
  var lastIfQuiet: UInt64? { queue.withLock { $0.lastIfQuiet } }
}

// MARK: - Telling

extension JournalWriter {
  /// Returns when the intent is written.
  ///
  /// - Throws: A ``HistoryJournalError`` if it is not.
  nonisolated(nonsending) func writeAhead(_ intent: HistoryFact) async throws {
    if let id = intent.execution { try check(id) }
    if let error = await written(intent) { throw error }
  }

  func check(_ id: ID) throws {
    guard id.number >= HistoryFact.firstNumberBeyond else { return }
    throw HistoryJournalError(
      .cannotWrite, cause: HistoryFact.Malformed("The ids of the journal are used up."))
  }

  func put(_ fact: HistoryFact) { queue.withLock { $0.put(fact) } }

  func put(_ facts: [HistoryFact]) {
    queue.withLock { queue in for fact in facts { queue.put(fact) } }
  }

  /// Does the chore when all earlier facts are written.
  func put(_ chore: @escaping Chore) {
    queue.withLock { $0.put(chore) }
    start()
  }

  /// Returns when all that was told is written and discarded, or cannot be.
  ///
  /// Not inlined, because its variables would take room in the frame of each move.
  @inline(never)
  nonisolated(nonsending) func flush() async { _ = await written(nil) }

  /// An operation is over. Returns when the journal knows how. The record of a transaction tells it
  /// already, and the rest comes with the next one.
  @inline(never)
  nonisolated(nonsending) func untilWritten() async {
    if hasTransactions, queue.withLock({ $0.isImplied }), !isTooLong(by: 2) { return }
    await flush()
  }

  /// Returns when the intent and all that was told before it is written.
  private nonisolated(nonsending) func written(
    _ intent: HistoryFact?
  ) async -> HistoryJournalError? {
    if let batch = beginAtOnce(intent) {
      if let result = appendAtOnce(batch) { return result.failure }
      return await withUnsafeContinuation { waiter in drain(from: batch.awaited(by: waiter)) }
    }
    return await withUnsafeContinuation { waiter in
      queue.withLock { $0.put(intent, waiter) }
      start()
    }
  }

  /// Discards the steps as soon as it is written that they have left.
  func discard(_ drops: consuming [HistoryDrop<any HistoryStep>]) {
    if drops.isEmpty { return }
    put { [drops] in
      var (drops, ids) = (drops, [ID]())
      for index in drops.indices {
        drops[index].removeAll { step, reason in
          if step.discard(reason) { ids.append(step.stored.id) }
        }
      }
      return ids
    }
  }

  /// Keeps a pair that has left and cannot be read, for a version of the app that can.
  func owe(_ id: ID, _ pair: HistoryPair, _ reason: HistoryDiscardReason) {
    owed.withLock { $0 += [.piece(.leaf(id, pair)), .piece(.dropped(reason))] }
  }
}

// MARK: - Values

extension JournalWriter {
  /// Returns nothing if the title cannot be encoded.
  func bytes(of title: String) -> [UInt8] { attempt { try journal.coder.encode(title) } ?? [] }

  func title(_ bytes: [UInt8]) throws -> String {
    bytes.isEmpty ? "" : try journal.coder.decode(String.self, from: bytes)
  }

  /// Returns the use case of this type, nil if none was given to `open`.
  func kind(of type: any Any.Type) -> (any JournaledUseCase)? {
    kindsByType[ObjectIdentifier(type)]
  }

  /// Returns nil if it cannot be encoded: then the entry is unreadable for the next one.
  func response(of step: any HistoryStep) -> [UInt8]? {
    let values = step.values
    return attempt { try kind(of: values.useCase)?.response(values.response, journal.coder) }
  }

  func pair(of step: any HistoryStep) -> HistoryPair? {
    let values = step.values
    return attempt {
      try kind(of: values.useCase)?.pair(values.request, values.response, journal.coder)
    }
  }

  /// The execution has an effect. Returns the step as the journal keeps it.
  func answered(_ step: any HistoryStep, by id: ID) -> StoredStep {
    let (response, isMarked) = (response(of: step), step.footprint != .everything)
    let pair = queue.withLock { $0.putAnswered(id, response, isMarked: isMarked) }
    return StoredStep(id, pair.answered(response, isMarked: isMarked), self, made: step)
  }

  private func attempt<Value>(_ body: () throws -> Value?) -> Value? {
    do {
      return try body()
    } catch {
      let error = HistoryJournalError(.cannotWrite, for: error)
      _ = queue.withLock { $0.setOmission(error) }
      return nil
    }
  }
}

// MARK: - Writing

extension JournalWriter {
  /// Writes the facts soon. Call this if nothing waits for them.
  func start() {
    if queue.withLock({ $0.claim() }) { drain(from: nil) }
  }

  /// Anybody may wait for what is written, also if a task of low priority asks for it.
  private func drain(from batch: Batch?) {
    Task.detached(priority: .userInitiated) { await self.drain(batch) }
  }

  /// The history is gone. A step that is still to be discarded has this writer, and would keep it
  /// for ever if the journal cannot be written.
  func historyIsGone() {
    queue.withLock { $0.historyIsGone() }
    abandon()
  }

  private func abandon() { _ = queue.withLock { $0.abandon() } }

  private func drain(_ first: Batch?) async {
    defer { abandon() }
    var next = first ?? nextBatch()
    while let batch = next {
      let failure = await write(batch)
      // If the journal is far too long, the waiters wait for this too.
      if failure == nil, isTooLong(by: 4) { await rewrite() }
      for waiter in batch.waiters { waiter.resume(returning: failure) }
      if failure == nil, isTooLong(by: 2) { await rewrite() }
      next = nextBatch()
    }
  }

  private func write(_ batch: Batch) async -> HistoryJournalError? {
    do {
      if !batch.facts.isEmpty {
        let bytes = FactRecord.bytes(of: batch.facts)
        try await journal.append(bytes)
        size.add(bytes.count, ordering: .relaxed)
      }
      _ = queue.withLock { $0.wrote(batch) }
      let discarded = batch.chores.flatMap { $0() }
      if !discarded.isEmpty { put(.discarded(discarded)) }
      return nil
    } catch {
      return failed(batch, error)
    }
  }

  private func failed(_ batch: Batch, _ error: any Error) -> HistoryJournalError {
    let error = HistoryJournalError(.cannotWrite, for: error)
    _ = queue.withLock { $0.failed(batch, error) }
    return error
  }

  /// Returns nil if there is none. A transaction that waits has the journal then.
  private func nextBatch() -> Batch? {
    let (batch, transaction) = queue.withLock { queue in
      let batch = queue.next()
      return (batch, batch == nil ? queue.nextTransaction() : nil)
    }
    transaction?.resume(returning: nil)
    return batch
  }

  /// Whether the journal has more bytes than `factor` times those that a new one would have. A few
  /// do not matter.
  private func isTooLong(by factor: Int) -> Bool {
    let whole = live.load(ordering: .relaxed) + rest.load(ordering: .relaxed)
    return size.load(ordering: .relaxed) > factor * whole + 4_096
  }

  /// Returns the intent and all facts that wait to be written, if that needs no task.
  private func beginAtOnce(_ intent: HistoryFact?) -> Batch? {
    if prompt == nil || isTooLong(by: 2) { return nil }
    return queue.withLock { $0.claim(intent) }
  }

  /// Returns nil, with nothing done, if the journal has to be awaited.
  private func appendAtOnce(_ batch: Batch) -> (failure: HistoryJournalError?, Void)? {
    var failure: HistoryJournalError?
    do {
      if !batch.facts.isEmpty {
        let bytes = FactRecord.bytes(of: batch.facts)
        guard try prompt?.appendAtOnce(bytes) == true else { return nil }
        size.add(bytes.count, ordering: .relaxed)
      }
      _ = queue.withLock { $0.wrote(batch) }
    } catch {
      failure = failed(batch, error)
    }
    endTurn()
    return (failure, ())
  }
}

// MARK: - Transactions

extension JournalWriter {
  /// Returns when nobody else has the journal. Call `endTurn` behind it.
  func takeTurn() async {
    _ = await withUnsafeContinuation { waiter in
      queue.withLock { $0.takeTurn(waiter) }?.resume(returning: nil)
    }
  }

  /// A transaction is over.
  func endTurn() {
    switch queue.withLock({ $0.endTurn() }) {
    case .turn(let next): next.resume(returning: nil)
    case .write: start()
    case .rest: break
    }
  }

  /// Returns all facts that are not written, for the record of the transaction.
  func takeRecord() -> Record {
    let facts = queue.withLock { $0.takeFacts() }
    return (facts, FactRecord.bytes(of: facts))
  }

  /// The record of the transaction is written.
  func commit(_ record: Record) {
    // The error before must not be released under the lock.
    _ = queue.withLock { $0.wrote(record.facts) }
    size.add(record.bytes.count, ordering: .relaxed)
  }

  /// The transaction has failed, and its step has no effect. The other facts of its record are
  /// written with the next one.
  func withdraw(_ step: ID, of record: Record?) {
    queue.withLock { $0.withdraw(step, record?.facts ?? []) }
  }
}

// MARK: - Writing anew

extension JournalWriter {
  /// From now on `facts` are asked for when the journal has become too long.
  func rewriteWhenTooLong(_ facts: @escaping @Sendable (JournalWriter) -> [HistoryFact]?) {
    whole.withLock { $0 = facts }
  }

  private func rewrite() async {
    let omission = queue.withLock { $0.setOmission(nil) }
    guard let facts = whole.withLock({ $0 })?(self) else {
      if let omission { _ = queue.withLock { $0.setOmission(omission) } }
      return
    }
    do {
      try await rewrite(facts)
    } catch {
      let error = HistoryJournalError(.cannotWrite, for: error)
      // The next launch will not find the records that are appended from now on.
      _ = queue.withLock { error.reason == .moved ? $0.setOmission(error) : $0.setFailure(error) }
      // The old one is still there. Try again when it is twice as long.
      rest.add(size.load(ordering: .relaxed), ordering: .relaxed)
    }
  }

  /// Writes a journal of these facts only.
  func rewrite(_ facts: [HistoryFact]) async throws {
    let facts = facts + owed.withLock { $0 }
    let records = stride(from: 0, to: facts.count, by: 256).map { start in
      FactRecord.bytes(of: facts[start..<min(start + 256, facts.count)])
    }
    try await journal.replace(with: records)
    let count = records.reduce(0) { $0 + $1.count }
    rest.store(max(0, count - live.load(ordering: .relaxed)), ordering: .relaxed)
    size.store(count, ordering: .relaxed)
  }
}
