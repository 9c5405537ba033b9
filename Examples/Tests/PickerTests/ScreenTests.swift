import Testing

@testable import picker

struct ScreenTests {
  private func state(
    columns: Int, rows: Int, query: String = "left arrow", results: [Unicode.Scalar]? = ["←", "漢"]
  ) -> PickerState {
    var state = PickerState(size: TerminalSize(columns: columns, rows: rows))
    state.progress = nil
    for scalar in query.unicodeScalars { _ = state.press(.character(scalar)) }
    state.results = results
    state.work = PickerState.Work(executed: 10, superseded: 9, running: 0)
    return state
  }

  @Test func `a screen shows the query, the results, the text and the queue`() {
    var state = state(columns: 54, rows: 9)
    state.line = TextLine("←漢")
    _ = state.press(.down)
    let screen = Screen(state)
    #expect(
      screen.rows == [
        "Search: left arrow                                    ",
        "──────────────────────────────────────────────────────",
        "  U+2190   ←   LEFTWARDS ARROW                        ",
        "> U+6F22   漢  CJK UNIFIED IDEOGRAPH-6F22             ",
        "                                                      ",
        "                                                      ",
        "──────────────────────────────────────────────────────",
        "Text: ←漢                                             ",
        "executed 10, superseded 9, running 0 | 2 of 2         ",
      ])
    #expect(screen.highlight == Screen.Highlight(row: 3, text: screen.rows[3]))
    #expect(screen.cursor == Screen.Cursor(row: 0, column: 18))
  }

  @Test func `a terminal of 20 by 5 has room for all that matters`() {
    var state = state(columns: 20, rows: 5)
    state.line = TextLine("←")
    #expect(
      Screen(state).rows == [
        "Search: left arrow  ",
        "> U+2190   ←   LEFT…",
        "  U+6F22   漢  CJK …",
        "Text: ←             ",
        "executed 10, supers…",
      ])
  }

  @Test func `any state fits any terminal`() {
    let awkward: [Unicode.Scalar] = ["漢", "\u{301}", "🐈", "\u{202E}", "\u{200D}", "\u{3000}", "a"]
    for columns in Array(1...24) + [40, 71, 72, 80] {
      for rows in [1, 2, 3, 4, 5, 8, 9, 12] {
        for results in [nil, [], awkward] {
          var state = state(
            columns: columns, rows: rows, query: "漢e\u{301}\u{1B}🐈字", results: results)
          state.line = TextLine("漢e\u{301}\u{1B}🐈字\u{301}")
          state.line.moveCaret(to: 4)
          state.applied = ["漢e\u{301}", "\u{1B}"]
          state.undone = ["🐈字"]
          for keys: [Key] in [
            [], [.down, .end], [.tab], [.control("r"), .character("漢"), .return],
          ] {
            for key in keys { _ = state.press(key) }
            for progress in [nil, 0, 50, 100] {
              state.progress = progress
              expectToFit(Screen(state), state.size)
            }
          }
        }
      }
    }
  }

  private func expectToFit(_ screen: Screen, _ size: TerminalSize) {
    #expect(screen.rows.count == size.rows)
    #expect(screen.rows.allSatisfy { $0.cells == size.columns })
    #expect(screen.rows.indices.contains(screen.cursor.row))
    #expect((0..<size.columns).contains(screen.cursor.column))
    if let highlight = screen.highlight {
      #expect(screen.rows[highlight.row].hasPrefix(highlight.text))
    }
  }

  @Test func `few rows keep the query and the selected result`() {
    var state = state(columns: 30, rows: 2)
    _ = state.press(.down)
    #expect(
      Screen(state).rows == ["Search: left arrow            ", "> U+6F22   漢  CJK UNIFIED ID…"])
  }

  @Test func `the selected result is always on the screen`() {
    let results = (0x2190...0x21FF).compactMap(Unicode.Scalar.init)
    var state = state(columns: 60, rows: 12, results: results)
    for result in results {
      let screen = Screen(state)
      #expect(screen.rows.filter { $0.hasPrefix(">") }.count == 1)
      #expect(screen.highlight?.text.hasPrefix("> \(result.codePoint)") == true)
      _ = state.press(.down)
    }
  }

  @Test func `a long query and a long text keep their ends`() {
    var state = state(columns: 20, rows: 5, query: "black leftwards arrow")
    state.line = TextLine(String(repeating: "←", count: 20))
    let screen = Screen(state)
    #expect(screen.rows[0] == "Search: …ards arrow ")
    #expect(screen.cursor == Screen.Cursor(row: 0, column: 19))
    #expect(screen.rows[3] == "Text: …←←←←←←←←←←←← ")
  }

  @Test func `nothing is shown while nobody knows`() {
    let screen = Screen(state(columns: 20, rows: 5, results: nil))
    #expect(screen.rows[1...2].allSatisfy { $0.allSatisfy { $0 == " " } })
    #expect(screen.highlight == nil)
  }

  @Test func `finding nothing is said, and an empty query explains itself`() {
    #expect(Screen(state(columns: 40, rows: 5, results: [])).rows[1].hasPrefix("No character"))
    #expect(Screen(state(columns: 40, rows: 5, query: "", results: [])).rows[1].hasPrefix("Type"))
  }

  @Test func `what combines is shown on a circle`() {
    let rows = Screen(state(columns: 40, rows: 5, results: ["\u{301}"])).rows
    #expect(rows[1].contains("◌\u{301}   COMBINING ACUTE ACCENT"))
  }

  @Test(arguments: [
    (60, 0, "Reading the names [                                  ]   0 %"),
    (60, 50, "Reading the names [#################                 ]  50 %"),
    (60, 100, "Reading the names [##################################] 100 %"),
    (20, 50, "[######      ]  50 %"), (6, 50, " 50 % "),
  ])
  func `a bar shows how far the index has come`(columns: Int, percent: Int, bar: String) {
    var state = state(columns: columns, rows: 5)
    state.progress = percent
    #expect(Screen(state).rows[4] == bar.fitted(to: columns))
  }

  @Test func `the cursor goes where the keys go`() {
    var state = state(columns: 30, rows: 5)
    state.line = TextLine("a漢b")
    state.line.moveCaret(to: 2)
    _ = state.press(.tab)
    #expect(Screen(state).cursor == Screen.Cursor(row: 3, column: 9))
    state.size.rows = 2
    #expect(Screen(state).cursor == Screen.Cursor(row: 0, column: 9))
    #expect(Screen(state).rows[0].hasPrefix("Text: a漢b"))
    for key in [Key.control("r"), .character("漢"), .return, .character("x")] {
      _ = state.press(key)
    }
    #expect(Screen(state).rows[0].hasPrefix("Replace “漢” by: x "))
    #expect(Screen(state).cursor == Screen.Cursor(row: 0, column: 18))
  }

  @Test(arguments: [
    (false, true, "Text: a"), (false, false, "Text*: a"), (true, true, "Locked: a"),
    (true, false, "Locked*: a"),
  ])
  func `the label of the text says what it is`(isLocked: Bool, isSaved: Bool, label: String) {
    var state = state(columns: 10, rows: 5)
    state.size.columns = 20
    state.line = TextLine("a")
    state.line.isLocked = isLocked
    state.isSaved = isSaved
    #expect(Screen(state).rows[3] == label.fitted(to: 20))
  }

  @Test func `a wide screen shows the history beside the results`() {
    var state = state(columns: 72, rows: 7)
    state.applied = ["a", "b"]
    state.undone = ["c"]
    let screen = Screen(state)
    #expect(
      screen.rows[1...4] == [
        "> U+2190   ←   LEFTWARDS ARROW                   │ ● a                  ",
        "  U+6F22   漢  CJK UNIFIED IDEOGRAPH-6F22        │ ● b                  ",
        "                                                 │ ─ now ───────────────",
        "                                                 │ ○ c                  ",
      ])
    #expect(screen.highlight?.text == "> U+2190   ←   LEFTWARDS ARROW".fitted(to: 48))
    for size in [TerminalSize(columns: 71, rows: 7), TerminalSize(columns: 72, rows: 5)] {
      state.size = size
      #expect(!Screen(state).rows.contains { $0.contains("│") })
    }
  }

  @Test func `the cursor of the history is always on the screen`() throws {
    let titles = (1...9).map { "change \($0)" }
    for rows in 6...20 {
      for count in 0...9 {
        var state = state(columns: 80, rows: rows)
        state.applied = Array(titles.prefix(count))
        state.undone = Array(titles.dropFirst(count))
        let pane = Screen(state).rows.compactMap { $0.split(separator: "│ ").dropFirst().first }
        let cursor = try #require(pane.firstIndex { $0.hasPrefix("─ now ─") })
        let neighbours = [pane[..<cursor].last, pane[cursor...].dropFirst().first]
        let expected = [
          state.applied.last.map { "● \($0) " }, state.undone.first.map { "○ \($0) " },
        ]
        for (neighbour, expected) in zip(neighbours, expected) {
          #expect(neighbour?.hasPrefix(expected ?? " ") ?? true)
        }
      }
    }
  }
}

struct FieldTests {
  @Test(arguments: [
    ("abc", "", 12, "Text: abc   ", 9), ("a", "bc", 12, "Text: abc   ", 7),
    ("abcdef", "", 12, "Text: …cdef ", 11), ("abcdef", "gh", 12, "Text: …defgh", 10),
    ("", "abcdefgh", 12, "Text: abcde…", 6), ("abcdefgh", "", 8, "…cdefgh ", 7),
    ("漢漢漢漢", "", 7, "… 漢漢 ", 6),
  ])
  func `the cursor is always in the field`(
    before: String, behind: String, columns: Int, row: String, cursor: Int
  ) {
    let field = Field("Text: ", before, behind, columns: columns)
    #expect(field.row == row)
    #expect(field.cursor == cursor)
  }
}
