extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// The identity doesn't change as long as the entry exists. Derive an idempotency key from it, so
  /// that a server can tell a repeated attempt from a new request. An entry can be undone and
  /// redone several times, so append the action and a *round* to the key, such as "undo 1". The
  /// round is a number that grows with each redo: let `main` return round 1 in its response, and
  /// let `redo` return a response with the next round. A repeated attempt then has the same round,
  /// and so the same key. Append a name of the journal, too, a new one for each new journal,
  /// because entries in another journal can have the same identities.
  ///
  /// A part of a group has its own identity. An execution has its own identity until it is merged
  /// into another entry.
  public static var current: HistoryEntry.ID? {
    guard let frame = HistoryFrame.current else { return nil }
    return switch frame.role {
    case .body, .part: frame.entrance.entry
    case .group: nil
    }
  }
}
