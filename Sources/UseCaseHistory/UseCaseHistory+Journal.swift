extension UseCaseHistory {
  /// Opens the history that a journal keeps, with all that had been recorded when its process ended,
  /// however that ended. An empty journal is an empty history.
  ///
  /// ```swift
  /// let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
  /// let history = try await UseCaseHistory.open(journal, for: [Rename(document: document)])
  /// ```
  ///
  /// From then on each recorded execution, undo and redo is written ahead: its intent before its body
  /// begins, its end before any handler. One that cannot be written does not begin, and fails with a
  /// ``HistoryJournalError``; so does one of a use case that is not among `useCases`.
  ///
  /// Nothing is executed here. First ``JournaledUseCase/settle(_:)`` is asked about what had begun and
  /// not ended. Then the group that was interrupted is undone, or kept. `discard` is called
  /// once more for each pair of which the journal does not know that it had returned.
  ///
  /// - Parameters:
  ///   - journal: Where the history is kept. Nobody else may use it meanwhile.
  ///   - useCases: Those that may be recorded, and read what was. Entries of others are
  ///     ``HistoryEntry/Standing/unreadable``.
  ///   - interrupted: The fate of the group that was running.
  ///   - limit: How many applied entries are kept, nil for all. Below 0 it is a programmer error
  ///     and traps.
  ///   - mergeWindow: How much time may lie between the recordings of two executions that merge.
  ///   - clock: Measures the merge window, and the timeouts of what is recorded.
  /// - Returns: The history.
  /// - Throws: A ``HistoryJournalError`` if the journal cannot be read or written, or if two use
  ///   cases have one name.
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
    try await HistoryOpening(core: core, writer: writer).run(interrupted, limit)
    return UseCaseHistory(core: core)
  }

  /// Why the last write to the journal has failed: what is in memory is ahead of it, until the next
  /// one succeeds. A response that cannot be encoded fails too, and its entry is unreadable for the
  /// next launch. Nil without a journal.
  public var journalError: (any Error)? { core.ledger.journal?.error }
}
