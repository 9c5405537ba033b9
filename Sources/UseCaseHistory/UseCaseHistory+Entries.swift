public import UseCase

// MARK: - Reading

extension UseCaseHistory {
  /// All entries: the applied ones, the oldest first, then the undone ones, the next to redo first.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public var entries: [HistoryEntry] { core.ledger.entries }

  /// Returns the entry that an operation has become. The entry is there when the handlers of the
  /// operation run.
  ///
  /// ```swift
  /// let deletion = delete.execute(title)
  /// deletion.then { _ in
  ///   guard let entry = history.entry(of: deletion.id) else { return }
  ///   snackbar.show("Deleted \(title)", undo: entry.id)
  /// }
  /// ```
  ///
  /// - Parameter operation: The operation of an execution or a group of this history.
  /// - Returns: The entry, `nil` before the operation is recorded and after the entry has left. For
  ///   an execution that was merged, the entry into which it was merged.
  /// - Complexity: The same as ``undo(_:)``.
  public func entry(of operation: UseCaseOperationID) -> HistoryEntry? {
    core.ledger.entry(of: HistoryEntry.ID(operation))
  }

  /// Returns the request and the response of an entry, or of a part of a group. Use them to repeat
  /// the execution, or for an audit or an export.
  ///
  /// - Parameters:
  ///   - entry: The entry, or the part.
  ///   - type: The use case that was recorded.
  /// - Returns: The request and the last response. `nil` if the entry is a group, belongs to
  ///   another use case, or doesn't exist.
  /// - Complexity: The same as ``undo(_:)``, and O(*n*) in the number of entries for a part.
  public func execution<Base: UndoableUseCase>(
    _ entry: HistoryEntry.ID, by type: Base.Type
  ) -> (request: Base.Request, response: Base.Response)? {
    (core.ledger.step(of: entry) as? RecordedStep<Base>).map { ($0.request, $0.response) }
  }

  /// Returns the entries that would block an ``undo(_:)`` of `entry` at present, for a list of
  /// steps.
  ///
  /// - Parameter entry: An applied entry.
  /// - Returns: The later entries that overlap it, the oldest first. Empty if the entry is undone,
  ///   or doesn't exist.
  /// - Complexity: The same as ``undo(_:)``.
  public func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    core.ledger.blockers(of: entry)
  }
}

// MARK: - Keeping fewer

extension UseCaseHistory {
  /// How many applied entries are kept, `nil` for all.
  ///
  /// The oldest ones are discarded when an execution is recorded, and when you lower the limit. A
  /// limit below 0 is a programmer error and traps.
  ///
  /// - Complexity: O(1), and O(*n*) in the number of entries that are discarded.
  public var limit: Int? {
    get { core.ledger.read { $0.noted.pool.limit } }
    set {
      Self.check(newValue)
      core.ledger.drop { $0.setLimit(newValue) }
    }
  }

  /// Discards all entries.
  ///
  /// A running execution is not recorded when it ends, and a waiting undo or redo finds nothing. A
  /// clean history stays clean, and one with unsaved changes keeps them.
  ///
  /// If you call it inside a recorded body, an undo, a redo or a group, it takes effect when that
  /// has ended.
  ///
  /// - Complexity: O(*n*) in the number of entries, with no lock held.
  public func clear() {
    let frame = core.role(in: .innermost) == nil ? nil : HistoryFrame.current
    let history = core.ledger.history
    // A task that a body has left behind may find out only here that the body is over.
    core.ledger.drop { $0.clear(isInside: frame?.running(of: history) != nil) }
  }

  /// Removes an entry from the history, whether it is applied or undone.
  ///
  /// Its effect stays as it is, and can no longer be undone or redone. An entry that is being
  /// undone or redone leaves when that has ended.
  ///
  /// A clean history stays clean. If undo and redo can no longer restore the saved state, the
  /// history is not clean again until the next save.
  ///
  /// - Parameter entry: The entry. An unknown one is ignored.
  /// - Complexity: The same as ``undo(_:)``.
  public func forget(_ entry: HistoryEntry.ID) {
    core.ledger.drop { $0.forget(entry) }
  }

  /// Keeps the next execution from merging with the newest entry.
  public func breakMerging() {
    core.ledger.change { $0.breakMerging() }
  }
}
