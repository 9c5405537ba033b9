/// The keys that a person presses.
enum Key: Hashable, Sendable {
  case character(Unicode.Scalar)
  case up, down, left, right
  case pageUp, pageDown, home, end
  case `return`, tab, backspace, delete, escape
  /// A letter with the control key held down, in lower case.
  case control(Unicode.Scalar)
  /// A byte that is not a part of any UTF-8 character.
  case invalid(UInt8)
}

extension Key {
  /// The keys that have no character of their own, by the names that a script calls them.
  static let named: KeyValuePairs<String, Key> = [
    "up": .up, "down": .down, "left": .left, "right": .right,
    "page-up": .pageUp, "page-down": .pageDown, "home": .home, "end": .end,
    "return": .return, "tab": .tab, "backspace": .backspace, "delete": .delete, "escape": .escape,
  ]

  /// Reads a name such as `page-down` or `ctrl-u`.
  init?(named name: String) {
    if let key = Self.named.first(where: { $0.key == name })?.value {
      self = key
    } else if name.hasPrefix("ctrl-"), name.utf8.count == 6, let letter = name.unicodeScalars.last,
      ("a"..."z").contains(letter)
    {
      self = .control(letter)
    } else {
      return nil
    }
  }
}
