extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// The identity doesn't change as long as the entry exists. Derive an idempotency key from it, so
  /// that a server can tell a repeated attempt from a new request. Add two things to the key. The
  /// first is the action and its *round*, a number that your use case counts, such as "undo 1".
  /// Increase the round at each redo, and keep it when an attempt is repeated. The second is a name
  /// of the device, because entries on another device can have the same identities.
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
