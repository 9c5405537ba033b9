extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// It doesn't change as long as the entry exists. Derive an idempotency key from it, so that a
  /// server can tell a repeated attempt from a new request. Add two things to the key: the action,
  /// such as "execution", "undo 1" or "redo 2", and a name of the device. Entries on another device
  /// can have the same identities.
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
