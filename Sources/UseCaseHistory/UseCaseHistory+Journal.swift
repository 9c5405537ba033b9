import UseCase

extension UseCaseHistory {
  /// Restores the history that a journal keeps.
  ///
  /// The history has everything that was recorded before the last process exited or crashed. An
  /// empty journal gives an empty history.
  ///
  /// ```swift
  /// let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
  /// let history = try await UseCaseHistory.open(
  ///   journal, for: [Rename(document: document)])
  /// ```
  ///
  /// From then on, the history writes each recorded execution, undo and redo to the journal twice.
  /// It writes the intent before the body begins, and the end before any handler other than
  /// `onStart` runs. If the intent can't be written, the execution, undo or redo doesn't begin, and
  /// the operation fails with a ``HistoryJournalError``. An execution of a use case that is not in
  /// `useCases` fails with this error, too. In a ``TransactionalJournal`` there is one record
  /// instead, in the transaction of the body.
  ///
  /// Opening a history calls neither `main` nor `redo` of your use cases. It calls these methods:
  ///
  /// - ``UndoableUseCase/footprint(of:_:)`` for each entry that was recorded with a footprint other
  ///   than ``HistoryFootprint/everything``
  /// - ``JournaledUseCase/settle(_:)`` for each execution, undo or redo that was interrupted
  /// - ``UndoableUseCase/undo(_:_:)`` for the parts of a group that was interrupted, unless
  ///   `interrupted` is ``HistoryInterruption/keep``
  /// - ``UndoableUseCase/discard(_:_:_:)`` for each pair that leaves the history meanwhile, such as
  ///   an entry over the limit, and for each pair whose `discard` may have been interrupted
  ///
  /// The cancellation of the awaiting task changes nothing: `open` returns when all of this is
  /// done.
  ///
  /// - Parameters:
  ///   - journal: The journal of the history. Use it for nothing else as long as the history
  ///     exists.
  ///   - useCases: The use cases that this history can record, and whose entries it can restore.
  ///     The entries of other use cases are ``HistoryEntry/Standing/unreadable``.
  ///   - interrupted: Whether a group that was interrupted is undone or kept.
  ///   - limit: How many applied entries are kept, `nil` for all. A negative limit is a programmer
  ///     error and traps.
  ///   - mergeWindow: The longest time between the calls of two executions that can merge.
  ///   - clock: Measures the merge window, and the timeouts of the recorded use cases.
  /// - Returns: The history.
  /// - Throws: A ``HistoryJournalError`` if the journal can't be read or written, if it is an object
  ///   that is the journal of another history, or if two use cases have the same name.
  /// - Complexity: O(*n*) in the number of bytes of the journal.
  public static func open(
    _ journal: any HistoryJournal, for useCases: [any JournaledUseCase],
    interrupted: HistoryInterruption = .compensate, limit: Int? = nil,
    mergeWindow: Duration = .milliseconds(500), clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> UseCaseHistory {
    check(limit)
    var kinds: [String: any JournaledUseCase] = [:]
    for useCase in useCases {
      let name = type(of: useCase).journalName
      guard kinds.updateValue(useCase, forKey: name) == nil else {
        throw HistoryJournalError(.duplicateName(name))
      }
    }
    let writer = JournalWriter(journal, kinds)
    let history = UseCaseHistory(
      HistoryLedger(limit: limit, mergeWindow: mergeWindow, clock: clock, journal: writer), clock)
    try writer.take()
    do {
      try await history.restore(interrupted, limit, by: writer)
    } catch {
      writer.giveBack()
      throw error
    }
    return history
  }

  /// The error of the last write to the journal, `nil` if it succeeded or if there is no journal.
  ///
  /// After an error of writing, the journal is behind the history, and the next write that succeeds
  /// catches up.
  ///
  /// If a response can't be encoded, the error stays longer: until the history has compacted the
  /// journal, that is, rewritten it without the records that it no longer needs. At the next
  /// launch, the entry with that response is ``HistoryEntry/Standing/unreadable``.
  public var journalError: (any Error)? { ledger.journal?.error }
}

// MARK: - Making a history again of its journal

extension UseCaseHistory {
  private typealias Replay = HistoryReplay<any HistoryStep>

  private func restore(
    _ interruption: HistoryInterruption, _ limit: Int?, by writer: JournalWriter
  ) async throws {
    var replay = Replay(
      Replay.Making(
        content: { id, pair in
          let step = StoredStep(id, pair, writer)
          return pair.isMarked ? .init(step) : .single(step)
        },
        pair: { ($0.stored.id, $0.stored.pair) },
        doubt: { $0.stored.isInDoubt = $1 },
        title: { try writer.title($0) }))
    let records = try await records(of: writer)
    try read(records, into: &replay)
    if let newest = replay.newest { writer.continueIDs(after: newest) }
    do {
      for doubt in try replay.doubts() { try replay.answer(doubt, await settle(doubt, by: writer)) }
      try replay.finish(interruption)
      replay.setLimit(limit)
    } catch let error as Replay.Malformed {
      throw HistoryJournalError(.damaged(offset: records.count), cause: error)
    }
    let interrupted = replay.interrupted
    try await take(replay, writer)
    for group in interrupted { await compensate(group) }
    ledger.keepJournalShort()
    await writer.flush()
    if let error = writer.error { throw error }
  }

  private func records(of writer: JournalWriter) async throws -> [[UInt8]] {
    do {
      return try await writer.journal.read()
    } catch {
      throw HistoryJournalError(.cannotRead, for: error)
    }
  }

  private func read(_ records: [[UInt8]], into replay: inout Replay) throws {
    for (index, record) in records.enumerated() {
      do {
        try FactRecord.read(record) { number, fact in try replay.tell(fact, number) }
      } catch let error as Replay.Malformed {
        throw HistoryJournalError(.damaged(offset: index), cause: error)
      } catch {
        throw HistoryJournalError(.cannotRead, cause: error)
      }
    }
  }

  private func settle(
    _ doubt: JournalDoubt, by writer: JournalWriter
  ) async -> HistorySettlement<[UInt8]?>? {
    guard let kind = writer.kinds[doubt.pair.name] else { return nil }
    // In a frame, so that `settle` can name the entry to a server.
    let frame = HistoryFrame(
      .answered, of: doubt.id, by: doubt.id, in: ledger.history, operation: nil,
      inside: .innermost)
    defer { frame.end() }
    // A cancellation of the caller changes nothing: an answer that fails is never asked for again.
    return await HistoryFrame.local.withValue(frame) {
      Task { [coder = writer.journal.coder] in await kind.settle(doubt, coder) }
    }.value
  }

  /// Puts the restored history into the machine, and writes the journal anew.
  private func take(_ replay: consuming Replay, _ writer: JournalWriter) async throws {
    let (pool, inDoubt) = (replay.pool, replay.inDoubt)
    ledger.change { $0.restore(pool, inDoubt: inDoubt) }
    guard var whole = ledger.whole else { preconditionFailure("Nothing runs yet.") }
    (whole.interrupted, whole.drops) = (replay.interrupted, replay.drops)
    do {
      try await writer.rewrite(whole.facts(newest: writer.nextID()) { writer.bytes(of: $0) })
    } catch {
      throw HistoryJournalError(.cannotWrite, for: error)
    }
    writer.discard(
      replay.drops.map { step, reason in
        HistoryDrop(HistoryRecord(id: step.stored.id, content: .single(step)), reason)
      })
  }

  private func compensate(_ group: HistoryRecord<any HistoryStep>) async {
    guard case .group(let content) = group.content else {
      preconditionFailure("Only groups are rolled back.")
    }
    let closed = HistoryLedger.Machine.Groups.Opened(
      id: group.id, title: content.title, parts: content.parts)
    let rollBack = Group<Void, Void>(ledger: ledger, lane: lane, interrupted: closed) {
      throw CancellationError()
    } answer: { _, _ in
    }
    // Parts that could not be undone become an entry. A cancellation of the caller changes nothing.
    await rollBack.execute(content.title).ended()
  }
}
