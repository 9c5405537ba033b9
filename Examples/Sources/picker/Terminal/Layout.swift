/// The room that a terminal offers.
struct TerminalSize: Hashable, Sendable {
  var columns: Int
  var rows: Int
}

/// How the cells of a terminal are shared out. What matters less goes first when they are few.
struct Layout {
  let hasText: Bool
  let hasStatus: Bool
  let hasRules: Bool
  let hasHistory: Bool

  /// The number of rows for results, and for the history beside them; at least 1.
  let results: Int

  let resultColumns: Int
  let historyColumns: Int

  init(_ size: TerminalSize) {
    hasText = size.rows >= 3
    hasStatus = size.rows >= 4
    hasRules = size.rows >= 9
    results = max(1, size.rows - 1 - (hasText ? 1 : 0) - (hasStatus ? 1 : 0) - (hasRules ? 2 : 0))
    hasHistory = size.columns >= 72 && results >= 3
    historyColumns = hasHistory ? size.columns / 3 : 0
    resultColumns = size.columns - historyColumns
  }
}
