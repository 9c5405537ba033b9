/// The report on the opening of a history.
public struct HistoryRecovery: Sendable {
  /// An interrupted group that was not taken back to its beginning, or an interrupted undo that was not
  /// finished.
  public struct Failure: Identifiable, Sendable {
    /// The identity of the entry.
    public var id: HistoryEntry.ID { entry.id }

    /// The entry, which is interrupted, in doubt or unreadable.
    public let entry: HistoryEntry

    /// The reason why it could not be taken back or finished, or was not tried.
    public let error: any Error
  }

  /// Interrupted groups whose parts were undone. They are no entries any more.
  public internal(set) var takenBack: [HistoryEntry] = []

  /// With ``HistoryInterruption/keep``: interrupted groups whose parts are an entry now, and
  /// interrupted undos that wait.
  public internal(set) var kept: [HistoryEntry] = []

  /// Interrupted undos that were carried to their end.
  public internal(set) var finished: [HistoryEntry] = []

  /// Interrupted groups and undos that could not be taken back or finished, or were not tried again.
  public internal(set) var failed: [Failure] = []

  /// The entries with the standing ``HistoryEntry/Standing/inDoubt``.
  public internal(set) var inDoubt: [HistoryEntry] = []

  /// The entries with the standing ``HistoryEntry/Standing/unreadable``.
  public internal(set) var unreadable: [HistoryEntry] = []

  /// Whether there is nothing to tell a user.
  public var isEmpty: Bool {
    takenBack.isEmpty && kept.isEmpty && finished.isEmpty && failed.isEmpty && inDoubt.isEmpty
      && unreadable.isEmpty
  }
}
