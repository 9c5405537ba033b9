public import UseCase

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
  /// for failure in history.recovery.failed { show(failure.entry, failure.error) }
  /// ```
  ///
  /// From then on, the history writes each recorded execution, undo and redo to the journal twice.
  /// It writes the intent before the body begins, and the end before any handler other than
  /// `onStart` runs. If the intent can't be written, the execution, undo or redo doesn't begin, and
  /// the operation fails with a ``HistoryJournalError``. An execution of a use case that is not in
  /// `useCases` fails with this error, too. In a ``TransactionalJournal`` there is one change
  /// instead, in the transaction of the body.
  ///
  /// Opening a history calls neither `main` nor `redo` of your use cases. It calls these methods:
  ///
  /// - ``UndoableUseCase/footprint(of:_:)`` for each entry that was recorded with a footprint other
  ///   than ``HistoryFootprint/everything``
  /// - ``JournaledUseCase/settle(_:)`` for each execution, undo or redo that was interrupted
  /// - ``UndoableUseCase/undo(_:_:)`` for the rest of the parts of a failed group, and, unless
  ///   `interrupted` is ``HistoryInterruption/keep``, for the parts of a group that was interrupted and
  ///   for the rest of an undo that was
  /// - ``UndoableUseCase/discard(_:_:_:)`` for each pair that leaves the history meanwhile, such as
  ///   an entry over the limit, and for each pair whose `discard` may have been interrupted
  ///
  /// An undo that fails here is tried again at the next launch: see ``recovery``.
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
  ///   - observer: Receives the events of the history, as that of a new one does.
  /// - Returns: The history.
  /// - Throws: A ``HistoryJournalError`` if the journal can't be read or written, is damaged or
  ///   stale, if it is an object that is the journal of another history, or if two use cases have the
  ///   same name. `CancellationError` if the task is cancelled: what was not recovered then waits for
  ///   the next time.
  /// - Complexity: O(*n* log *n*) in the number of entries, and O(*n*) in the number of bytes.
  public static func open(
    _ journal: any HistoryJournal, for useCases: [any JournaledUseCase],
    interrupted: HistoryInterruption = .compensate, limit: Int? = nil,
    mergeWindow: Duration = .milliseconds(500), clock: any Clock<Duration> = ContinuousClock(),
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) async throws -> UseCaseHistory {
    check(limit)
    let kinds = try JournalKinds(useCases, coder: journal.coder)
    guard OpenJournals.take(journal) else { throw HistoryJournalError(.inUse) }
    var opening: HistoryOpening
    do {
      opening = try await HistoryOpening(journal, kinds)
    } catch {
      OpenJournals.giveBack(journal)
      throw error
    }
    // From here on, the writer gives the journal back.
    let lane = HistoryLane(
      limit: limit, mergeWindow: mergeWindow, clock: clock, journal: opening.writer)
    let history = UseCaseHistory(lane, clock, observer)
    do {
      try await opening.finish(history, interrupted, limit)
    } catch {
      opening.writer.end(HistoryJournalError(.closed))
      throw error
    }
    return history
  }

  /// The report of ``open(_:for:interrupted:limit:mergeWindow:clock:observer:)``. Empty without a
  /// journal.
  public var recovery: HistoryRecovery { lane.journal?.recovery ?? HistoryRecovery() }

  /// The error of the last write to the journal, `nil` if it succeeded or if there is no journal.
  ///
  /// After an error of writing, the journal is behind the history, and the next write that succeeds
  /// catches up. After ``HistoryJournalError/Reason/stale`` nothing is written any more.
  ///
  /// If a response can't be encoded, the error stays until it can. At the next launch, the entry
  /// with that response is ``HistoryEntry/Standing/unreadable``.
  public var journalError: (any Error)? { lane.journal?.error }
}
