import Testing

@testable import picker

struct CellsTests {
  @Test(arguments: [
    ("a", 1), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("漢", 2), ("한", 2),
    ("\u{1100}\u{1161}", 2),
    ("🐈", 2), ("→", 1), ("❤", 1), ("❤\u{FE0F}", 1), ("👩\u{200D}🚀", 4), ("ｆ", 2), ("\u{3000}", 2),
    ("🇪🇸", 2), ("", 0), ("\u{20000}", 2), ("☰", 2),
  ])
  func `text is as wide as a terminal draws it`(text: String, cells: Int) {
    #expect(text.cells == cells)
  }

  @Test(arguments: [
    ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("\u{0}\n\u{7F}\u{9B}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("a\u{202E}b\u{200D}", "ab"), ("\u{2028}", "\u{FFFD}"), ("\u{E000}", "\u{FFFD}"),
    ("e\u{301}", "e\u{301}"),
  ])
  func `nothing is drawn that could upset a terminal`(text: String, drawable: String) {
    #expect(text.drawable.unicodeScalars.elementsEqual(drawable.unicodeScalars))
  }

  @Test(arguments: [
    ("abc", 5, "abc  "), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字", 4, "漢字"), ("漢字", 3, "漢…"),
    ("漢字", 2, "… "), ("abc", 1, "…"), ("abc", 0, ""), ("", 2, "  "), ("ae\u{301}b", 2, "a…"),
    ("e\u{301}ab", 2, "e\u{301}…"),
  ])
  func `text is clipped or padded to the very column`(text: String, columns: Int, fitted: String) {
    #expect(text.fitted(to: columns) == fitted)
  }

  @Test(arguments: [
    ("abcd", 3, "…cd"), ("a漢字", 3, "…字"), ("a漢字", 4, "… 字"), ("ae\u{301}b", 2, "…b"),
  ])
  func `text can keep its end instead`(text: String, columns: Int, fitted: String) {
    #expect(text.fitted(to: columns, keepingEnd: true) == fitted)
  }

  @Test func `every character fits any width`() {
    for value in stride(from: 0, through: 0x10FFFF, by: 7) {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      let text = "a\(scalar)b"
      for columns in 0...3 { #expect(text.fitted(to: columns).cells == columns) }
    }
  }
}
