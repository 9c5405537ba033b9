extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// The identity doesn't change as long as the entry exists. Derive an idempotency key from it, so
  /// that a server can tell a repeated attempt from a new request. Add two things to the key. The
  /// first is the action with a round, such as "undo 1": each redo increases the round, and a
  /// repeated attempt doesn't. The second is a name of the device, because entries on another
  /// device can have the same identities.
  ///
  /// A part of a group has its own identity. An execution has its own identity until it is merged
  /// into another entry.
  public static var current: Self? {
    guard let frame = HistoryFrame.current else { return nil }
    return switch frame.role {
    case .body, .part: frame.entrance.entry
    case .group: nil
    }
  }
}
