/// A note. One that was deleted is kept, so that the deletion can be sent and undone.
package struct Note: Codable, Hashable, Identifiable, Sendable {
  /// When the note was made, in milliseconds since 1970. The newest is the first of the list.
  package let id: Int
  package var text: String
  package var isDeleted: Bool
  /// Grows with each change, so that a late request or answer replaces nothing newer.
  package var version: Int

  package init(id: Int, text: String = "", isDeleted: Bool = false, version: Int = 0) {
    (self.id, self.text, self.isDeleted, self.version) = (id, text, isDeleted, version)
  }

  package var title: String {
    text.split(separator: "\n").first.map(String.init) ?? "New note"
  }
}
