/// The facts that are not written yet, and the callers that wait for that.
///
/// One batch is written at a time. An intent that could not be written is withdrawn, and its body
/// does not begin. The other facts stay, and are written before the next intent. A `Chore` is done
/// when all facts before it are written.
///
/// A transaction has the journal for itself: it waits for its turn, and takes the facts that wait
/// into its record.
struct JournalQueue<Waiter: Sendable, Chore: Sendable>: Sendable {
  struct Batch: Sendable {
    let facts: [NumberedFact]
    var waiters: [Waiter] = []
    var chores: [Chore] = []

    consuming func awaited(by waiter: Waiter) -> Self {
      waiters.append(waiter)
      return self
    }
  }

  /// Whether a batch is written, or a transaction is open.
  private var isWriting = false
  private var facts: [NumberedFact] = []
  private var waiters: [Waiter] = []
  private var chores: [Chore] = []
  /// Whether the last attempt has failed and no other has been asked for.
  private var isStuck = false
  /// Whether somebody else had the journal when an attempt was asked for.
  private var isAsked = false
  /// The transactions that wait for their turn.
  private var transactions: ArraySlice<Waiter> = []
  /// Whether the history is gone, and nobody will ask for another attempt.
  private var hasEnded = false
  /// The bodies that were told to begin, and not yet to have ended: an execution with its pair, an
  /// undo or a redo without one.
  private var intents: [HistoryEntry.ID: HistoryPair?] = [:]
  /// The executions that merge with another one, as far as the journal has been told.
  private var combined: Set<HistoryEntry.ID> = []
  private var last: UInt64 = 0
  /// Why the last attempt has failed.
  private var failure: HistoryJournalError?
  /// Why something could not even be made into bytes. No attempt makes up for it.
  private var omission: HistoryJournalError?

  mutating func put(_ fact: consuming HistoryFact) {
    if let (id, pair) = fact.intent { intents.updateValue(pair, forKey: id) }
    if let id = fact.end { intents.removeValue(forKey: id) }
    // As a rule, they are the end of one operation and the intent of the next.
    if facts.isEmpty { facts.reserveCapacity(4) }
    last += 1
    facts.append(NumberedFact(number: last, fact: fact))
  }

  /// An intent and its waiter come together, so they are in one batch: if it fails, the waiter hears
  /// of it.
  mutating func put(_ intent: HistoryFact?, _ waiter: Waiter) {
    if let intent { put(intent) }
    waiters.append(waiter)
  }

  mutating func put(_ chore: Chore) { chores.append(chore) }

  /// The execution has an effect. Returns the pair with which it began.
  mutating func putAnswered(
    _ id: HistoryEntry.ID, _ response: [UInt8]?, isMarked: Bool
  ) -> HistoryPair {
    guard let pair = intents[id], let pair else {
      preconditionFailure("An execution that has an effect has begun, and \(id) has not.")
    }
    put(.answered(id, response, isMarked: isMarked))
    return pair
  }

  var error: HistoryJournalError? { failure ?? omission }

  /// Returns the error before, which must not be released under the lock.
  mutating func setFailure(_ failure: HistoryJournalError?) -> HistoryJournalError? {
    defer { self.failure = failure }
    return self.failure
  }

  /// Something could not even be made into bytes, or, with nil, all is tried anew. Returns the
  /// error before, which must not be released under the lock.
  mutating func setOmission(_ omission: HistoryJournalError?) -> HistoryJournalError? {
    defer { self.omission = omission }
    return self.omission
  }

  /// Returns whether the caller has to write now.
  mutating func claim() -> Bool {
    guard !(waiters.isEmpty && chores.isEmpty && facts.isEmpty) else { return false }
    if isWriting {
      isAsked = true
      return false
    }
    (isWriting, isStuck, isAsked) = (true, false, false)
    return true
  }

  /// The caller writes the intent and all that waits now. Returns nil, with nothing put, if somebody
  /// else has the journal, or waits for it.
  mutating func claim(_ intent: HistoryFact?) -> Batch? {
    guard !isWriting, waiters.isEmpty, chores.isEmpty else { return nil }
    if let intent { put(intent) }
    (isWriting, isAsked) = (true, false)
    defer { facts = [] }
    return Batch(facts: facts)
  }

  /// Returns the next batch. If there is none, it is the turn of the `nextTransaction`.
  mutating func next() -> Batch? {
    guard !waiters.isEmpty || (!isStuck && !(chores.isEmpty && facts.isEmpty)) else {
      isAsked = false
      if transactions.isEmpty { isWriting = false }
      return nil
    }
    defer { (facts, waiters, chores) = ([], [], []) }
    return Batch(facts: facts, waiters: waiters, chores: chores)
  }

  /// Returns the error of the attempt before, which is settled.
  mutating func wrote(_ batch: Batch) -> HistoryJournalError? {
    isStuck = false
    return batch.facts.isEmpty ? nil : wrote(batch.facts)
  }

  /// Returns the error of the attempt before, which is settled.
  mutating func wrote(_ facts: [NumberedFact]) -> HistoryJournalError? {
    for index in facts.indices {
      if case .combined(let id, _) = facts[index].fact { combined.insert(id) }
      if !combined.isEmpty, case .ended(let id, _) = facts[index].fact { combined.remove(id) }
    }
    return setFailure(nil)
  }

  /// Returns the error before.
  mutating func failed(
    _ batch: Batch, _ error: HistoryJournalError
  ) -> HistoryJournalError? {
    isStuck = true
    facts = batch.facts.filter { !isOpen($0.fact) } + facts
    chores = batch.chores + chores
    return setFailure(error)
  }

  /// Whether it is the intent of a body that has not ended.
  private func isOpen(_ fact: HistoryFact) -> Bool {
    fact.intent.map { intents[$0.id] != nil } ?? false
  }

  // MARK: Turns

  /// A transaction wants the journal. Returns the waiter if it has that now. Otherwise it waits for its turn.
  mutating func takeTurn(_ transaction: Waiter) -> Waiter? {
    if isWriting {
      transactions.append(transaction)
      return nil
    }
    isWriting = true
    return transaction
  }

  /// Returns the facts for the record of the transaction that has the journal.
  mutating func takeFacts() -> [NumberedFact] {
    defer { facts = [] }
    return facts
  }

  /// The transaction has failed. Its own facts, those of this step, are withdrawn, and the others
  /// are put back.
  mutating func withdraw(_ step: HistoryEntry.ID, _ taken: [NumberedFact]) {
    facts = (taken + facts).filter { $0.fact.step != step }
    intents.removeValue(forKey: step)
  }

  enum AfterTurn {
    /// It is the turn of this transaction.
    case turn(Waiter)
    /// Begin to write, before the next transaction, which may take long.
    case write
    case rest
  }

  /// A transaction is over, or a batch that was written at once.
  mutating func endTurn() -> AfterTurn {
    // A transaction may have taken the facts for which somebody asked.
    let isAwaited = !waiters.isEmpty || !chores.isEmpty || (isAsked && !facts.isEmpty)
    if !isAwaited, let next = nextTransaction() { return .turn(next) }
    isWriting = false
    return isAwaited ? .write : .rest
  }

  /// Returns the transaction that has the journal from now on, nil if none waits.
  mutating func nextTransaction() -> Waiter? { transactions.popFirst() }

  /// Whether a history that is opened without the facts that wait is the same. That is only so if
  /// the effects of all bodies are written by transactions.
  var isImplied: Bool {
    var opened: Set<HistoryEntry.ID> = []
    return chores.isEmpty
      && facts.allSatisfy { numbered in
        switch numbered.fact {
        case .opened(let id, _, _): opened.insert(id).inserted
        // None of its parts has had an effect.
        case .closed(let id, _): opened.contains(id)
        case .ended(let id, .recorded): !combined.contains(id)
        case .ended(_, let end): end == .part || end == .merged
        case .failed, .contradicts, .moves, .undoes, .redoes, .moved: true
        case .began, .moving, .answered, .combined, .undone, .redone, .obsolete, .limited,
          .cleared, .forgot, .saved, .discarded, .piece:
          false
        }
      }
  }

  /// The history is gone.
  mutating func historyIsGone() { hasEnded = true }

  /// Returns the chores that will never be done, to be let go.
  mutating func abandon() -> [Chore] {
    guard hasEnded, !isWriting else { return [] }
    defer { chores = [] }
    return chores
  }

  /// The number of the last fact, if no body runs, and nothing waits to be written but what a
  /// journal that is written anew has no need of.
  var lastIfQuiet: UInt64? {
    facts.allSatisfy { $0.fact.isOver } && chores.isEmpty && intents.isEmpty ? last : nil
  }
}

extension HistoryFact {
  /// Whether it tells of something that is no part of a whole history any more.
  fileprivate var isOver: Bool {
    switch self {
    case .discarded, .failed: true
    case .began, .moving, .answered, .combined, .ended, .undone, .redone, .obsolete, .undoes,
      .redoes, .forgot, .opened, .closed, .moves, .moved, .limited, .cleared, .saved, .contradicts,
      .piece:
      false
    }
  }

  /// The execution that begins.
  var execution: ID? { if case .began(let id, _, _) = self { id } else { nil } }

  /// The step whose body has ended.
  fileprivate var step: ID? {
    switch self {
    case .began(let id, _, _), .answered(let id, _, _), .moving(let id), .undone(let id),
      .redone(let id, _, _), .combined(let id, _):
      id
    case .failed, .ended, .contradicts, .obsolete, .opened, .closed, .moves, .undoes,
      .redoes, .moved, .limited, .cleared, .forgot, .saved, .discarded, .piece:
      nil
    }
  }

  /// The entry whose body begins, and the pair of an execution.
  fileprivate var intent: (id: ID, pair: HistoryPair?)? {
    switch self {
    case .began(let id, _, let pair): (id, pair)
    case .moving(let id): (id, nil)
    case .failed, .answered, .combined, .ended, .contradicts, .undone, .redone, .obsolete, .opened,
      .closed, .moves, .undoes, .redoes, .moved, .limited, .cleared, .forgot, .saved, .discarded,
      .piece:
      nil
    }
  }

  /// The entry whose body is over.
  fileprivate var end: ID? {
    switch self {
    case .failed(let id), .ended(let id, _), .undone(let id), .redone(let id, _, _),
      .obsolete(let id, _):
      id
    case .began, .moving, .answered, .combined, .contradicts, .opened, .closed, .moves, .undoes,
      .redoes, .moved, .limited, .cleared, .forgot, .saved, .discarded, .piece:
      nil
    }
  }
}
