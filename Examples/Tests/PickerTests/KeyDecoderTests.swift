import Testing

@testable import picker

struct KeyDecoderTests {
  private func keys(_ bytes: [UInt8]) -> [Key] {
    var decoder = KeyDecoder()
    return decoder.decode(bytes) + decoder.flush()
  }

  @Test(
    arguments: [
      ("a", [.character("a")]), ("→漢🐈", [.character("→"), .character("漢"), .character("🐈")]),
      ("\r", [.return]), ("\n", [.return]), ("\t", [.tab]), ("\u{7F}", [.backspace]),
      ("\u{8}", [.backspace]),
      ("\u{3}", [.control("c")]), ("\u{15}", [.control("u")]), ("\u{17}", [.control("w")]),
      ("\u{1A}", [.control("z")]), ("\u{1B}", [.escape]), ("\u{1B}\u{1B}", [.escape, .escape]),
      ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}[D", [.left]),
      ("\u{1B}[5~", [.pageUp]), ("\u{1B}[6~", [.pageDown]), ("\u{1B}[H", [.home]),
      ("\u{1B}[4~", [.end]), ("\u{1B}[3~", [.delete]), ("\u{1B}[1;5A", [.up]),
      ("\u{1B}[200~", []), ("\u{1B}[A\u{1B}[Bx", [.up, .down, .character("x")]),
      ("\u{1B}a", [.escape, .character("a")]), ("\u{1B}[\r", [.escape, .character("["), .return]),
      ("\u{0}\u{1C}", []),
    ] as [(String, [Key])])
  func `bytes become keys`(bytes: String, keys: [Key]) {
    #expect(self.keys(Array(bytes.utf8)) == keys)
  }

  @Test(
    arguments: [
      ([0xFF], [.invalid(0xFF)]), ([0x80, 0x61], [.invalid(0x80), .character("a")]),
      ([0xE2, 0x86], [.invalid(0xE2), .invalid(0x86)]),
      ([0xE2, 0x61], [.invalid(0xE2), .character("a")]),
      ([0xC0, 0x80], [.invalid(0xC0), .invalid(0x80)]),
      ([0xED, 0xA0, 0x80], [.invalid(0xED), .invalid(0xA0), .invalid(0x80)]),
      ([0xF5, 0x80], [.invalid(0xF5), .invalid(0x80)]),
    ] as [([UInt8], [Key])])
  func `each byte that is not UTF-8 is told apart`(bytes: [UInt8], keys: [Key]) {
    #expect(self.keys(bytes) == keys)
  }

  @Test func `bytes may arrive one by one`() {
    var decoder = KeyDecoder()
    var keys: [Key] = []
    for byte in "a→\u{1B}[5~🐈\u{1B}OA".utf8 { keys += decoder.decode([byte]) }
    #expect(
      keys == [.character("a"), .character("→"), .pageUp, .character("🐈"), .up])
    #expect(!decoder.isWaiting)
  }

  @Test func `Esc waits for its rest until it is flushed`() {
    var decoder = KeyDecoder()
    #expect(decoder.decode([0x1B]) == [])
    #expect(decoder.isWaiting)
    #expect(decoder.flush() == [.escape])
    #expect(!decoder.isWaiting)
  }

  @Test func `an endless sequence does not swallow the keyboard`() {
    let bytes = Array("\u{1B}[".utf8) + [UInt8](repeating: 0x30, count: 40) + Array("x".utf8)
    #expect(keys(bytes).last == .character("x"))
  }

  @Test func `no two bytes make it fail`() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        _ = keys([0x1B, first, second]) + keys([first, second])
      }
    }
  }

  @Test func `keys have the names that scripts call them`() {
    #expect(Key(named: "page-down") == .pageDown)
    #expect(Key(named: "ctrl-u") == .control("u"))
    for name in ["", "ctrl-", "ctrl-U", "ctrl-ab", "pagedown"] { #expect(Key(named: name) == nil) }
  }
}
