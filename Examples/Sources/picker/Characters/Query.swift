import Foundation

/// A query, taken apart once and then held against each name.
struct Query {
  /// How well a name fits: as well as its worst word.
  enum Rank: Int, Comparable {
    case wholeWords, wordPrefixes, substrings

    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
  }

  /// The words as C strings, in capitals as the names are, the longest first: it is the one that
  /// fits the fewest names.
  let words: [[CChar]]

  /// The character that the query spells out, if it does.
  let character: Unicode.Scalar?

  init(_ text: String) {
    // A zero would end a C string early.
    let words = text.split { $0 == " " || $0 == "\0" }
    let longestFirst = words.sorted { $0.utf8.count > $1.utf8.count }
    self.words = longestFirst.map { Array($0.uppercased().utf8CString) }
    character = words.count == 1 ? Self.character(spelledBy: words[0]) : nil
  }

  /// Reads `→`, `2192` and `U+2192`. A bare `FACE` is a word rather than a code point.
  private static func character(spelledBy word: Substring) -> Unicode.Scalar? {
    let scalar: Unicode.Scalar?
    if word.unicodeScalars.count == 1 {
      scalar = word.unicodeScalars.first
    } else {
      let isMarked = word.uppercased().hasPrefix("U+")
      let digits = isMarked ? word.dropFirst(2) : word
      guard digits.allSatisfy(\.isHexDigit), isMarked || digits.contains(where: \.isNumber)
      else { return nil }
      scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
    }
    return scalar?.properties.name == nil ? nil : scalar
  }

  /// How well a name fits, or nil if one of the words does not occur in it.
  func rank(_ name: UnsafePointer<CChar>) -> Rank? {
    var worst = Rank.wholeWords
    for word in words {
      guard let found = strstr(name, word) else { return nil }
      worst = max(worst, best(of: word, in: name, from: found))
    }
    return worst
  }

  /// The best of a word's places in a name, `found` being the first.
  private func best(
    of word: [CChar], in name: UnsafePointer<CChar>, from found: UnsafeMutablePointer<CChar>
  ) -> Rank {
    var place = found
    var best = Rank.substrings
    while true {
      if place == name || !isPartOfWord(place[-1]) {
        guard isPartOfWord(place[word.count - 1]) else { return .wholeWords }
        best = .wordPrefixes
      }
      guard let next = strstr(place + 1, word) else { return best }
      place = next
    }
  }

  /// The words of names consist of capitals and digits.
  private func isPartOfWord(_ byte: CChar) -> Bool {
    byte >= 65 && byte <= 90 || byte >= 48 && byte <= 57
  }
}
