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
  /// `useCases` fails with this error, too.
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
  ///   - mergeWindow: The longest time between two executions that can merge.
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
    var kinds: [String: any JournalKind] = [:]
    for useCase in useCases {
      let name = type(of: useCase).journalName
      guard kinds.updateValue(useCase.kind, forKey: name) == nil else {
        throw HistoryJournalError(.duplicateName(name))
      }
    }
    let writer = JournalWriter(journal, kinds)
    let core = HistoryCore(limit: limit, mergeWindow: mergeWindow, clock: clock, journal: writer)
    try writer.take()
    do {
      try await HistoryOpening(core: core, writer: writer).run(interrupted, limit)
    } catch {
      writer.giveBack()
      throw error
    }
    return UseCaseHistory(core: core)
  }

  /// The error of the last write to the journal, `nil` if it succeeded or if there is no journal.
  ///
  /// After an error of writing, the journal is behind the history, and the next write that succeeds
  /// catches up.
  ///
  /// If a response can't be encoded, the error stays longer: until the history has compacted the
  /// journal, that is, rewritten it without the records that it no longer needs. At the next
  /// launch, the entry with that response is ``HistoryEntry/Standing/unreadable``.
  public var journalError: (any Error)? { core.ledger.journal?.error }
}
