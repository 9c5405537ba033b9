/// A note, as the client and the server write it to each other and into their files.
package struct Note: Codable, Hashable, Sendable, Identifiable {
  /// Made by the client, so that a request can be sent again without making a second note.
  package let id: String

  /// In milliseconds since 1970. Notes are listed in this order.
  package let created: Int

  package let text: String

  package init(id: String, created: Int, text: String) {
    self.id = id
    self.created = created
    self.text = text
  }

  /// Tells one content of a note from another; an `ETag` is made of it.
  ///
  /// It depends on the content alone (FNV-1a), so that a note that was removed and brought back is
  /// the note that it was, also for somebody who has known it before.
  package var tag: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in "\(id) \(created) \(text)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return String(hash, radix: 16)
  }

  /// Whether an id can stand in an address as it is.
  package static func isValid(id: some StringProtocol) -> Bool {
    (1...64).contains(id.utf8.count)
      && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
  }

  package static func areInOrder(_ one: Note, _ other: Note) -> Bool {
    (one.created, one.id) < (other.created, other.id)
  }
}
