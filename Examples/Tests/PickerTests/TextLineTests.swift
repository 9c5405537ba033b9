import Testing

@testable import picker

struct TextLineTests {
  @Test func `a change moves the caret to where it was`() throws {
    var line = TextLine("abc")
    #expect(line.caret == 3)
    try line.insert(Snippet(text: "→漢", place: 1))
    #expect(line.text == "a→漢bc")
    #expect(line.caret == 3)
    try line.delete(Snippet(text: "→漢", place: 1))
    #expect(line.text == "abc")
    #expect(line.caret == 1)
  }

  @Test func `only what is there is deleted, and nothing is inserted elsewhere`() {
    var line = TextLine("abc")
    for snippet in [
      Snippet(text: "x", place: 1), Snippet(text: "cd", place: 2), Snippet(text: "a", place: -1),
      Snippet(text: "a", place: 9),
    ] {
      #expect(throws: Failure.elsewhere) { try line.delete(snippet) }
    }
    for place in [-1, 4] {
      #expect(throws: Failure.elsewhere) { try line.insert(Snippet(text: "a", place: place)) }
    }
    #expect(line == TextLine("abc"))
  }

  @Test func `what looks alike is told apart`() {
    var line = TextLine("é")
    #expect(throws: Failure.elsewhere) { try line.delete(Snippet(text: "e\u{301}", place: 0)) }
    #expect(line.snippets(of: "e\u{301}") == [])
  }

  @Test func `a locked line refuses each change`() {
    var line = TextLine("abc")
    line.isLocked = true
    #expect(throws: Failure.locked) { try line.insert(Snippet(text: "x", place: 0)) }
    #expect(throws: Failure.locked) { try line.delete(Snippet(text: "a", place: 0)) }
    #expect(line.text == "abc")
    line.moveCaret(to: 1)
    #expect(line.caret == 1)
  }

  @Test func `the caret moves by columns`() {
    var line = TextLine("a\u{301}\u{302}漢\u{1B}e\u{301}")
    var places: [Int] = []
    for _ in 1...5 {
      places.append(line.caret)
      line.moveCaret(to: line.left)
    }
    #expect(places == [7, 5, 4, 3, 0])
    #expect(line.left == 0)
    places = []
    for _ in 1...5 {
      places.append(line.caret)
      line.moveCaret(to: line.right)
    }
    #expect(places == [0, 3, 4, 5, 7])
    #expect(line.right == 7)
    line.moveCaret(to: 99)
    #expect(line.caret == 7)
    line.moveCaret(to: -1)
    #expect(line.caret == 0)
  }

  @Test(arguments: [("", 0), ("one", 0), ("one two", 4), ("one two  ", 4), ("  ", 0)])
  func `the word before the caret`(text: String, start: Int) {
    #expect(TextLine(text).wordStart == start)
  }

  @Test(arguments: [
    ("banana", "an", [1, 3]), ("aaaa", "aa", [0, 2]), ("aaa", "aa", [0]), ("abc", "x", []),
    ("abc", "", []), ("", "a", []), ("a", "abc", []), ("漢a漢", "漢", [0, 2]),
  ])
  func `the places of a text do not overlap`(line: String, text: String, places: [Int]) {
    #expect(TextLine(line).snippets(of: text).map(\.place) == places)
  }
}

struct SnippetTests {
  @Test(arguments: [
    ("wor", "d", 3, "word"), ("word", " ", 4, "word "), ("word ", " ", 5, "word  "),
    ("word ", "n", 5, nil), (" ", "a", 1, nil), ("word", "x", 3, nil), ("word", "x", 5, nil),
  ])
  func `what is typed becomes words`(text: String, next: String, place: Int, word: String?) {
    let earlier = Snippet(text: text, place: 0)
    let merged = earlier.typed(before: Snippet(text: next, place: place))
    #expect(merged == word.map { Snippet(text: $0, place: 0) })
  }

  @Test func `what is erased in one go becomes one`() {
    let earlier = Snippet(text: "b", place: 1)
    #expect(earlier.erased(before: Snippet(text: "a", place: 0)) == Snippet(text: "ab", place: 0))
    #expect(earlier.erased(before: Snippet(text: "c", place: 1)) == Snippet(text: "bc", place: 1))
    #expect(earlier.erased(before: Snippet(text: "d", place: 2)) == nil)
  }
}
