/// A piece of text at its place in the line.
struct Snippet: Hashable, Sendable {
  var text: String

  /// How many scalars stand before it.
  var place: Int

  /// The places of its own scalars.
  var range: Range<Int> { place..<place + text.unicodeScalars.count }

  /// This and what was typed right behind it, if both belong to one word. The spaces behind a
  /// word are a part of it.
  func typed(before later: Snippet) -> Snippet? {
    let startsWord = text.hasSuffix(" ") && !later.text.hasPrefix(" ")
    guard later.place == range.upperBound, !startsWord else { return nil }
    return Snippet(text: text + later.text, place: place)
  }

  /// This and what was erased next, with Backspace before it or with Delete behind it.
  func erased(before later: Snippet) -> Snippet? {
    if later.range.upperBound == place {
      Snippet(text: later.text + text, place: later.place)
    } else if later.place == place {
      Snippet(text: text + later.text, place: place)
    } else {
      nil
    }
  }
}
