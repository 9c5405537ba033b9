/// A full screen: as many rows as the terminal has, each exactly as wide.
struct Screen: Hashable, Sendable {
  private(set) var rows: [String] = []

  /// The row to highlight, and its beginning, as far as it is highlighted.
  private(set) var highlight: Highlight?

  /// Where the next key goes: the first row, or the row of the text.
  private(set) var cursor: Cursor

  struct Highlight: Hashable, Sendable {
    let row: Int
    let text: String
  }

  struct Cursor: Hashable, Sendable {
    let row: Int
    let column: Int
  }

  init(_ state: PickerState) {
    let layout = Layout(state.size)
    let columns = state.size.columns
    let rule = String(repeating: "─", count: columns)
    let question = Self.question(state, columns: columns)
    let text = Self.text(state, columns: columns)
    let isInText = state.focus == .text

    rows = [isInText && !layout.hasText ? text.row : question.row]
    cursor = Cursor(row: 0, column: isInText ? text.cursor : question.cursor)
    if layout.hasRules { rows.append(rule) }

    let results = Self.results(state, layout)
    let selected = state.selection % layout.results
    if state.selected != nil, layout.results < state.size.rows {
      highlight = Highlight(row: rows.count + selected, text: results[selected])
    }
    rows += layout.hasHistory ? zip(results, Self.history(state, layout)).map(+) : results
    if layout.hasRules { rows.append(rule) }

    if layout.hasText {
      if isInText { cursor = Cursor(row: rows.count, column: text.cursor) }
      rows.append(text.row)
    }
    if layout.hasStatus { rows.append(Self.status(state, columns: columns)) }
    rows = rows.prefix(state.size.rows).map { $0.fitted(to: columns) }
  }

  private static func question(_ state: PickerState, columns: Int) -> Field {
    switch state.focus {
    case .search, .text: Field("Search: ", state.query, columns: columns)
    case .replaced: Field("Replace: ", state.answer, columns: columns)
    case .replacement(let replaced):
      Field("Replace “\(replaced)” by: ", state.answer, columns: columns)
    }
  }

  private static func text(_ state: PickerState, columns: Int) -> Field {
    let line = state.line
    let label = (line.isLocked ? "Locked" : "Text") + (state.isSaved ? ": " : "*: ")
    return Field(
      label, line.text(in: 0..<line.caret), line.text(in: line.caret..<line.end), columns: columns)
  }
}

// MARK: - Results and history

extension Screen {
  private static func results(_ state: PickerState, _ layout: Layout) -> [String] {
    var rows = resultRows(state, layout).prefix(layout.results)
    while rows.count < layout.results { rows.append("") }
    return rows.map { $0.fitted(to: layout.resultColumns) }
  }

  private static func resultRows(_ state: PickerState, _ layout: Layout) -> [String] {
    guard state.progress == nil, let results = state.results else { return [] }
    if state.query.isEmpty { return help }
    if results.isEmpty { return ["No character has such a name."] }
    let first = state.selection - state.selection % layout.results
    return (first..<first + layout.results).clamped(to: results.indices).map { place in
      let mark = place == state.selection ? ">" : " "
      return "\(mark) \(row(for: results[place]))"
    }
  }

  private static let help = [
    "Type words of a name, or a code point such as 2190.",
    "Up, Down: choose. Return: insert. Backspace: erase.",
    "Tab: to the text. Ctrl-Z: undo. Ctrl-Y: redo.",
    "Ctrl-R: replace. Ctrl-L: lock. Ctrl-S: save.",
    "Ctrl-W: erase a word. Ctrl-U: all. Ctrl-C: leave.",
  ]

  private static func row(for scalar: Unicode.Scalar) -> String {
    // A combining scalar needs something to stand on.
    let sample = (scalar.cells == 0 ? "◌" : "") + String(scalar)
    return scalar.codePoint.fitted(to: 8) + " " + sample.fitted(to: 2) + "  "
      + (scalar.listedName ?? "")
  }

  /// The applied entries, the cursor, and what can be redone; the cursor is always on the screen.
  private static func history(_ state: PickerState, _ layout: Layout) -> [String] {
    let width = layout.historyColumns - 3
    let now = "─ now " + String(repeating: "─", count: width - 6)
    var entries = state.applied.map { "● \($0)" } + [now] + state.undone.map { "○ \($0)" }
    let hidden = entries.count - layout.results
    entries.removeFirst(max(0, min(hidden, state.applied.count - layout.results / 2)))
    entries += Array(repeating: "", count: max(0, layout.results - entries.count))
    return entries.prefix(layout.results).map { " │ " + $0.fitted(to: width) }
  }
}

// MARK: - Status

extension Screen {
  private static func status(_ state: PickerState, columns: Int) -> String {
    if let progress = state.progress { return bar(progress, columns: columns) }
    if let message = state.message { return message }
    if state.focus != .search {
      return "\(state.applied.count) applied, \(state.undone.count) undone"
    }
    let work = state.work
    let queue =
      "executed \(work.executed), superseded \(work.superseded), running \(work.running)"
    guard let results = state.results, !results.isEmpty else { return queue }
    return "\(queue) | \(state.selection + 1) of \(results.count)"
  }

  /// A progress bar, as wide as there is room, up to 40 cells.
  private static func bar(_ percent: Int, columns: Int) -> String {
    let number =
      String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0)
      + "\(percent) %"
    let label = columns < 40 ? "" : "Reading the names "
    let width = min(40, columns - label.cells - number.cells - 3)
    guard width > 0 else { return number }
    let done = width * percent / 100
    return label + "[" + String(repeating: "#", count: done)
      + String(repeating: " ", count: width - done) + "] " + number
  }
}
