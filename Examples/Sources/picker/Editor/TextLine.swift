/// A line of text and the caret in it, which stands where the last change was.
///
/// Places are counted in scalars, since the picker picks scalars. The caret moves by columns: what
/// combines with the scalar before it has no column of its own.
struct TextLine: Hashable, Sendable {
  private var scalars: [Unicode.Scalar]
  private(set) var caret: Int

  /// A locked line refuses each change, and so each undo and redo.
  var isLocked = false

  init(_ text: String = "") {
    scalars = Array(text.unicodeScalars)
    caret = scalars.count
  }

  var text: String { text(in: 0..<end) }
  var end: Int { scalars.count }
  var left: Int { scalars[..<caret].lastIndex { $0.cells > 0 } ?? 0 }
  var right: Int { scalars[caret...].dropFirst().firstIndex { $0.cells > 0 } ?? end }

  /// Where the word before the caret begins.
  var wordStart: Int {
    let words = scalars[..<caret].reversed().drop { $0 == " " }.drop { $0 != " " }
    return words.count
  }

  func text(in range: Range<Int>) -> String {
    String(String.UnicodeScalarView(scalars[range]))
  }

  mutating func moveCaret(to place: Int) {
    caret = min(max(place, 0), end)
  }

  mutating func insert(_ snippet: Snippet) throws(Failure) {
    try checkLock()
    guard (0...end).contains(snippet.place) else { throw .elsewhere }
    scalars.insert(contentsOf: snippet.text.unicodeScalars, at: snippet.place)
    caret = snippet.range.upperBound
  }

  mutating func delete(_ snippet: Snippet) throws(Failure) {
    try checkLock()
    guard holds(snippet) else { throw .elsewhere }
    scalars.removeSubrange(snippet.range)
    caret = snippet.place
  }

  /// Every place of a text, from left to right. No two of them overlap.
  func snippets(of text: String) -> [Snippet] {
    var snippets: [Snippet] = []
    var snippet = Snippet(text: text, place: 0)
    while !text.isEmpty, snippet.range.upperBound <= end {
      if holds(snippet) {
        snippets.append(snippet)
        snippet.place = snippet.range.upperBound
      } else {
        snippet.place += 1
      }
    }
    return snippets
  }

  private func holds(_ snippet: Snippet) -> Bool {
    let range = snippet.range
    return range.lowerBound >= 0 && range.upperBound <= end
      && scalars[range].elementsEqual(snippet.text.unicodeScalars)
  }

  private func checkLock() throws(Failure) {
    if isLocked { throw .locked }
  }
}

extension Failure {
  static let locked = Failure(message: "the line is locked (Ctrl-L)")
  static let elsewhere = Failure(message: "the line has other text there")
}
