import Testing

@testable import picker

struct CharacterIndexTests {
  private static let index = CharacterIndex { _ in }

  private func search(_ query: String) -> [Unicode.Scalar] {
    Self.index.search(query) {}
  }

  private func names(_ query: String, _ count: Int) -> [String] {
    search(query).prefix(count).compactMap(\.listedName)
  }

  @Test func `every character with a name is in it`() {
    let named = (0...UInt32(0x10FFFF)).compactMap(Unicode.Scalar.init)
      .count { $0.properties.name != nil }
    #expect(Self.index.count == named)
    #expect(named > 150_000)
  }

  @Test func `building reports each percentage once, in order`() {
    var heard: [Int] = []
    _ = CharacterIndex { heard.append($0) }
    #expect(heard == Array(0...100))
  }

  @Test(arguments: [
    "2190", "U+2190", "u+2190", "←", "leftwards arrow", "ARROW leftwards", " 2190 ",
  ])
  func `a character is found by code point, by name and by itself`(query: String) {
    #expect(search(query).first == "←")
  }

  @Test(
    arguments: [
      ("41", "A"), ("a", "a"), ("U+face", "\u{FACE}"), ("1F408", "🐈"), ("cat", "🐈"), ("5", "5"),
    ] as [(String, Unicode.Scalar)])
  func `what is spelled out comes first`(query: String, first: Unicode.Scalar) {
    #expect(search(query).first == first)
  }

  @Test(arguments: [
    "", "   ", "zzzz", "U+", "U+110000", "U+D800", "U+-1", "é漢", "+2190", "arrow zzzz", "\0",
    "zzzz\0a",
  ])
  func `what fits nothing finds nothing`(query: String) {
    #expect(search(query).isEmpty)
  }

  @Test func `a word of letters alone is not a code point`() {
    #expect(search("face").first != "\u{FACE}")
    #expect(names("face", 1)[0].contains("FACE"))
  }

  @Test func `a zero only separates words`() {
    #expect(search("cat\0a\0") == search("cat a"))
  }

  @Test func `each is found once`() {
    for query in ["2190", "a", "arrow", "U+41"] {
      let found = search(query)
      #expect(Set(found).count == found.count)
    }
  }

  @Test func `whole words come before beginnings, and these before what is inside of words`() {
    func rank(_ name: String) -> Int {
      let words = name.split { !$0.isLetter && !$0.isNumber }
      return words.contains("CAT") ? 0 : words.contains { $0.hasPrefix("CAT") } ? 1 : 2
    }
    let ranks = names("cat", .max).map(rank)
    #expect(ranks == ranks.sorted())
    #expect(Set(ranks) == [0, 1, 2])
  }

  @Test func `the worst word decides`() {
    let found = names("left arr", .max)
    let inside = found.firstIndex { !" \($0)".contains(" LEFT") }
    let begins = found.lastIndex { " \($0)".contains(" LEFT") && $0.contains(" ARR") }
    #expect(found.first == "LEFTWARDS ARROW")
    if let inside, let begins { #expect(begins < inside) }
  }

  @Test func `among equals the shorter name comes first, then the smaller code point`() {
    let found = search("arrow").filter {
      ($0.listedName ?? "").split(separator: " ").contains("ARROW")
    }
    let keys = found.prefix(100).map { ($0.listedName?.utf8.count ?? 0, $0.value) }
    for (earlier, later) in zip(keys, keys.dropFirst()) { #expect(earlier < later) }
  }

  @Test func `a search agrees with a plain look at every name`() {
    let named = (0...UInt32(0x10FFFF)).compactMap(Unicode.Scalar.init)
      .compactMap { scalar in scalar.listedName.map { (scalar, name: $0) } }
    for query in ["arrow", "left arrow", "ARROW le", "ea he", "g-", "cjk 4e0"] {
      let words = query.uppercased().split(separator: " ")
      let plain = named.filter { named in words.allSatisfy { named.name.contains($0) } }
      #expect(search(query).sorted() == plain.map(\.0))
    }
  }

  @Test func `a corrected name is found by both`() {
    #expect(search("bracket 0FE18").isEmpty)
    #expect(search("brakcet").contains("\u{FE18}"))
    #expect(search("vertical right white lenticular bracket").contains("\u{FE18}"))
  }

  @Test func `a scan can be stopped at any checkpoint`() {
    var checkpoints = 0
    _ = Self.index.search("zzzz") { checkpoints += 1 }
    #expect(checkpoints > Self.index.count / CharacterIndex.namesPerCheckpoint)

    for stop in 1...checkpoints {
      var reached = 0
      #expect(throws: CancellationError.self) {
        try Self.index.search("zzzz") {
          reached += 1
          if reached == stop { throw CancellationError() }
        }
      }
      #expect(reached == stop)
    }
  }

  @Test func `code points are written as Unicode writes them`() {
    #expect(
      (["A", "←", "🐈"] as [Unicode.Scalar]).map(\.codePoint) == ["U+0041", "U+2190", "U+1F408"])
  }
}
