import Testing

@testable import picker

struct PickerStateTests {
  private func state(_ query: String, finds results: [Unicode.Scalar]? = []) -> PickerState {
    var state = PickerState(size: TerminalSize(columns: 80, rows: 24))
    state.progress = nil
    for scalar in query.unicodeScalars { _ = state.press(.character(scalar)) }
    state.results = results
    return state
  }

  @Test func `each character asks for a search, and takes the old results away`() {
    var state = state("ca", finds: ["a", "b"])
    _ = state.press(.down)
    #expect(state.press(.character("t")) == .search)
    #expect(state.query == "cat")
    #expect(state.results == nil)
    #expect(state.selected == nil)
    #expect(state.selection == 0)
  }

  @Test(arguments: [
    (Key.backspace, "left arr", "left ar"), (.control("w"), "left arr", "left "),
    (.control("w"), "left ", ""), (.control("w"), "left", ""), (.control("u"), "left arr", ""),
    (.escape, "left", ""), (.backspace, "e\u{301}", "e"),
  ])
  func `erasing asks for a search`(key: Key, query: String, rest: String) {
    var state = state(query)
    #expect(state.press(key) == .search)
    #expect(state.query == rest)
  }

  @Test func `erasing an empty query asks for nothing`() {
    for key in [Key.backspace, .control("u"), .control("w"), .escape] {
      var state = state("")
      #expect(state.press(key) == .none)
      #expect(state.results == [])
    }
  }

  @Test func `the selection stays among the results`() {
    var state = state("x", finds: Array((0x2190...0x21FF).compactMap(Unicode.Scalar.init)))
    state.size.rows = 15
    func press(_ keys: Key...) -> Int {
      for key in keys { _ = state.press(key) }
      return state.selection
    }
    #expect(press(.up) == 0)
    #expect(press(.down, .down) == 2)
    #expect(press(.pageDown) == 12)
    #expect(press(.pageUp, .pageUp) == 0)
    #expect(press(.end) == 111)
    #expect(press(.down, .pageDown) == 111)
    #expect(press(.home) == 0)
  }

  @Test func `Return inserts the selected character`() {
    var state = state("x", finds: ["a", "\u{301}", "🐈"])
    #expect(state.press(.return) == .edit(.insert("a")))
    #expect([.down, .return].map { state.press($0) } == [.none, .edit(.insert("\u{301}"))])
    #expect(state.query == "x")
  }

  @Test func `Return without a result says so`() {
    var state = state("x", finds: nil)
    #expect(state.press(.return) == .none)
    #expect(state.message == "Still searching")
    state.results = []
    #expect(state.press(.return) == .none)
    #expect(state.message == "There is nothing to insert")
    _ = state.press(.up)
    #expect(state.message == nil)
  }

  @Test func `Backspace behind an empty query erases from the text`() {
    var state = state("x")
    state.line = TextLine("ab")
    #expect(state.press(.backspace) == .search)
    #expect(state.press(.backspace) == .edit(.delete(1..<2)))
    state.line = TextLine("")
    #expect(state.press(.backspace) == .none)
  }

  @Test func `a byte that is not UTF-8 is named`() {
    var state = state("x", finds: ["a"])
    #expect(state.press(.invalid(0xFF)) == .none)
    #expect(state.message == "Not UTF-8: the byte FF")
    #expect(state.query == "x")
  }

  @Test func `two keys leave`() {
    var state = state("x")
    #expect(state.press(.control("c")) == .quit)
    #expect(state.press(.control("d")) == .quit)
    for key in [Key.left, .right, .delete, .control("a")] { #expect(state.press(key) == .none) }
  }

  @Test(arguments: [
    (Key.character("x"), Editor.Command.insert("x")), (.backspace, .delete(4..<5)),
    (.delete, .delete(5..<7)), (.control("w"), .delete(3..<5)), (.control("u"), .delete(0..<5)),
    (.left, .moveCaret(to: 4)), (.right, .moveCaret(to: 7)), (.home, .moveCaret(to: 0)),
    (.end, .moveCaret(to: 8)), (.control("z"), .undo), (.control("y"), .redo),
    (.control("s"), .save), (.control("l"), .toggleLock),
  ])
  func `keys in the text change it at the caret`(key: Key, command: Editor.Command) {
    var state = state("query")
    state.line = TextLine("ab cde\u{301}f")
    state.line.moveCaret(to: 5)
    #expect(state.press(.tab) == .none)
    #expect(state.focus == .text)
    #expect(state.press(key) == .edit(command))
    #expect(state.query == "query")
  }

  @Test func `there is nothing to erase at the ends of the text`() {
    var state = state("")
    _ = state.press(.tab)
    state.line = TextLine("a")
    #expect(state.press(.delete) == .none)
    state.line.moveCaret(to: 0)
    for key in [Key.backspace, .control("w"), .control("u"), .return] {
      #expect(state.press(key) == .none)
    }
  }

  @Test func `Tab goes to the text and back, Esc only back`() {
    var state = state("x")
    let focuses = [Key.tab, .tab, .tab, .escape].map { key in
      _ = state.press(key)
      return state.focus
    }
    #expect(focuses == [.text, .search, .text, .search])
    #expect(state.query == "x")
  }

  @Test func `Ctrl-R asks what to replace, and by what`() {
    var state = state("x")
    func type(_ text: String) {
      for scalar in text.unicodeScalars { #expect(state.press(.character(scalar)) == .none) }
    }
    #expect(state.press(.control("r")) == .none)
    #expect(state.focus == .replaced)
    type("a/x")
    _ = state.press(.backspace)
    #expect(state.press(.return) == .none)
    #expect(state.focus == .replacement(of: "a/"))
    #expect(state.answer == "")
    type("b")
    #expect(state.press(.return) == .edit(.replaceAll("a/", by: "b")))
    #expect(state.focus == .text)
  }

  @Test(arguments: [[Key.escape], [.tab], [.return], [.character("a"), .return, .escape]])
  func `a question may stay without an answer`(keys: [Key]) {
    var state = state("x")
    for key in [.control("r")] + keys { #expect(state.press(key) == .none) }
    #expect(state.focus == .text)
  }
}
