import Foundation

/// Every character that has a name, laid out for one fast pass over all the names.
///
/// Names of one length share a shelf, and the shelves go from short names to long ones, each in
/// order of code point. A scan therefore finds what matches equally well in the order in which it
/// is shown, and nothing has to be sorted.
struct CharacterIndex: Sendable {
  /// How many names a scan looks at between two checkpoints: well below a millisecond's work.
  static let namesPerCheckpoint = 1024

  fileprivate struct Shelf {
    let length: Int
    /// C strings: `strstr` is fast in a debug build too, where a loop over bytes is not.
    var names: [CChar] = []
    var scalars: [Unicode.Scalar] = []
  }

  private var shelves: [Shelf] = []

  /// The number of characters.
  var count: Int { shelves.reduce(0) { $0 + $1.scalars.count } }

  /// Asks the standard library for all names.
  ///
  /// `progress` hears each new percentage, from 0 to 100, and stops the work by throwing.
  init(progress: (Int) throws -> Void) rethrows {
    let last: UInt32 = 0x10FFFF
    var percent = -1
    for value in 0...last {
      let now = Int(value * 100 / last)
      if now > percent {
        percent = now
        try progress(percent)
      }
      if let scalar = Unicode.Scalar(value), let name = scalar.listedName { add(scalar, name) }
    }
  }

  private mutating func add(_ scalar: Unicode.Scalar, _ name: String) {
    let length = name.utf8.count
    while shelves.count <= length { shelves.append(Shelf(length: shelves.count)) }
    shelves[length].names.append(contentsOf: name.utf8CString)
    shelves[length].scalars.append(scalar)
  }

  /// The characters that a query asks for, the best first.
  ///
  /// Every word of the query must occur in the name, in any order. Names in which all of them
  /// are whole words come first, then those in which all begin a word, then the rest; among
  /// equals the shorter name, then the smaller code point. A query that spells out one character
  /// (`→`, `2192`, `U+2192`) puts that one before all.
  ///
  /// `checkpoint` is called at regular intervals, and stops the scan by throwing.
  func search(_ query: String, checkpoint: () throws -> Void) rethrows -> [Unicode.Scalar] {
    let query = Query(query)
    guard let word = query.words.first else { return [] }

    var ranks: [[Unicode.Scalar]] = [[], [], []]
    for shelf in shelves {
      try shelf.scan(for: word, checkpoint) { scalar, name in
        if let rank = query.rank(name) { ranks[rank.rawValue].append(scalar) }
      }
    }

    var found = ranks[0] + ranks[1] + ranks[2]
    if let character = query.character {
      if let place = found.firstIndex(of: character) { found.remove(at: place) }
      found.insert(character, at: 0)
    }
    return found
  }
}

extension CharacterIndex.Shelf {
  /// Visits, in order, each name in which a word occurs.
  ///
  /// A plain loop over pointers: a debug build has to answer while a person types, too.
  fileprivate func scan(
    for word: [CChar], _ checkpoint: () throws -> Void,
    visit: (Unicode.Scalar, UnsafePointer<CChar>) -> Void
  ) rethrows {
    guard length >= word.count - 1 else { return }
    try names.withUnsafeBufferPointer { names in
      try word.withUnsafeBufferPointer { word in
        guard var name = names.baseAddress, let word = word.baseAddress else { return }
        var place = 0
        var nextCheckpoint = 0
        while place < scalars.count {
          if place == nextCheckpoint {
            try checkpoint()
            nextCheckpoint += CharacterIndex.namesPerCheckpoint
          }
          if strstr(name, word) != nil { visit(scalars[place], name) }
          name += length + 1
          place += 1
        }
      }
    }
  }
}

extension Unicode.Scalar {
  /// The name under which the character is found and shown, together with its correction where
  /// Unicode has published one.
  var listedName: String? {
    guard let name = properties.name else { return nil }
    guard let correction = properties.nameAlias else { return name }
    return "\(name) (\(correction))"
  }

  /// The code point as Unicode writes it, such as `U+2190`.
  var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
