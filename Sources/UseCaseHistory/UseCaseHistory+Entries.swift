public import UseCase

// MARK: - Reading

extension UseCaseHistory {
  /// All entries. The applied entries come first, from the oldest to the newest. The undone entries
  /// follow, from the next one to redo.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public var entries: [HistoryEntry] { lane.entries }

  /// Returns the entry that an operation has become. The entry exists when the handlers of the
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
  /// - Complexity: O(*n*) in the number of entries, O(1) for the newest one.
  public func entry(of operation: UseCaseOperationID) -> HistoryEntry? {
    lane.entry(of: lane.id(of: operation))
  }

  /// Returns the request and the response of an entry, or of a part of a group. Use them to repeat
  /// the execution, or for an audit or an export.
  ///
  /// - Parameters:
  ///   - entry: The entry, or the part.
  ///   - type: The use case that was recorded.
  /// - Returns: The request and the last response. `nil` if the entry is a group, belongs to
  ///   another use case, can't be read, is an execution in doubt, or doesn't exist.
  /// - Complexity: O(*n*) in the number of entries, O(1) for the newest one.
  public func execution<Base: UndoableUseCase>(
    _ entry: HistoryEntry.ID, by type: Base.Type
  ) -> (request: Base.Request, response: Base.Response)? {
    (lane.step(of: entry) as? RecordedStep<Base>).map { ($0.request, $0.response) }
  }

  /// Returns the entries that block ``undo(_:)`` of `entry` at present. Use it to disable rows in a
  /// list of entries.
  ///
  /// - Parameter entry: An applied entry.
  /// - Returns: The later entries that overlap `entry`, the oldest first. If a group is partly
  ///   undone, only this group. Empty if `entry` is undone, is an execution in doubt, or doesn't
  ///   exist.
  /// - Complexity: The same as ``undo(_:)``.
  public func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    lane.read { machine in
      guard let (row, isApplied) = machine.table.row(of: entry), isApplied,
        !row.isDoubtfulExecution
      else { return [] }
      return machine.table.blockers(ofUndoing: entry)
    }
  }
}

// MARK: - Keeping fewer

extension UseCaseHistory {
  /// How many applied entries are kept, `nil` for all.
  ///
  /// The oldest applied entries are discarded when an execution is recorded, and when you lower the
  /// limit. A negative limit is a programmer error and traps.
  ///
  /// - Complexity: O(*n*) in the number of entries that are discarded, otherwise O(1).
  public var limit: Int? {
    get { lane.read { $0.table.head.limit } }
    set {
      Self.check(newValue)
      lane.drop { $0.setLimit(newValue) }
    }
  }

  /// Discards all entries.
  ///
  /// A running execution is not recorded when it ends, and a waiting undo or redo finds nothing.
  /// Clearing the history doesn't change whether it is clean.
  ///
  /// Inside a recorded body, an undo, a redo or a group, `clear()` takes effect when that body,
  /// undo, redo or group has ended.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public func clear() {
    let isInside = roleHere != nil
    lane.drop { $0.clear(isInside: isInside) }
  }

  /// Removes an entry from the history, whether it is applied or undone.
  ///
  /// The effect of the entry stays as it is, and can no longer be undone or redone. An entry that
  /// is being undone or redone leaves when the undo or redo has ended.
  ///
  /// A clean history stays clean. If the history has unsaved changes, undo and redo make it clean
  /// only if they can still restore the saved state. Otherwise, it becomes clean at the next save.
  ///
  /// - Parameter entry: The entry. An unknown entry is ignored.
  /// - Complexity: O(*n*) in the number of entries.
  public func forget(_ entry: HistoryEntry.ID) {
    lane.drop { $0.forget(entry) }
  }

  /// Keeps the executions that were asked for before from merging with those that are asked for
  /// from now on.
  public func breakMerging() {
    lane.change { $0.breakMerging() }
  }

  /// The longest time between the calls of two executions that can merge. A change holds for
  /// executions that are asked for from now on.
  public var mergeWindow: Duration {
    get { lane.read { $0.mergeWindow } }
    set { lane.change { $0.mergeWindow = newValue } }
  }
}
