/// Turns the bytes that a terminal sends into keys.
///
/// Bytes may arrive cut anywhere: what is not yet a whole key waits for the rest. The terminal
/// sends the same byte for Esc as at the start of an arrow key, so only time tells them apart:
/// call ``flush()`` when nothing more has come for a moment.
struct KeyDecoder {
  /// No key takes more bytes than this.
  private static let longest = 20

  private var pending: [UInt8] = []

  /// Whether bytes wait for their rest.
  var isWaiting: Bool { !pending.isEmpty }

  /// Takes in bytes and returns the keys that they complete.
  mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    return decodePending(isAll: false)
  }

  /// Returns what the waiting bytes mean if no more will follow.
  mutating func flush() -> [Key] { decodePending(isAll: true) }

  /// The item at the start of the pending bytes.
  private enum Item {
    case key(Key, length: Int)
    case nothing(length: Int)
    case incomplete
  }

  private mutating func decodePending(isAll: Bool) -> [Key] {
    var keys: [Key] = []
    var rest = pending[...]
    while !rest.isEmpty {
      switch item(at: Array(rest.prefix(Self.longest)), isAll: isAll) {
      case .key(let key, let length):
        keys.append(key)
        rest = rest.dropFirst(length)
      case .nothing(let length):
        rest = rest.dropFirst(length)
      case .incomplete:
        pending = Array(rest)
        return keys
      }
    }
    pending = []
    return keys
  }

  private func item(at bytes: [UInt8], isAll: Bool) -> Item {
    switch bytes[0] {
    case 0x1B: escapeSequence(bytes, isAll: isAll)
    case 0x08, 0x7F: .key(.backspace, length: 1)
    case 0x09: .key(.tab, length: 1)
    case 0x0A, 0x0D: .key(.return, length: 1)
    case 0x01...0x1A: .key(.control(Unicode.Scalar(bytes[0] + 0x60)), length: 1)
    case 0x00...0x1F: .nothing(length: 1)
    default: character(bytes, isAll: isAll)
    }
  }

  private func character(_ bytes: [UInt8], isAll: Bool) -> Item {
    let length =
      switch bytes[0] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let present = bytes.prefix(length)
    if present.count < length, !isAll, present.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) {
      return .incomplete
    }
    guard let scalar = String(validating: present, as: UTF8.self)?.unicodeScalars.first
    else { return .key(.invalid(bytes[0]), length: 1) }
    return .key(.character(scalar), length: length)
  }

  /// `ESC [ parameters letter` and `ESC O letter`. An unknown sequence means nothing; what turns
  /// out not to be one was Esc, followed by other keys.
  private func escapeSequence(_ bytes: [UInt8], isAll: Bool) -> Item {
    let escape = Item.key(.escape, length: 1)
    guard bytes.count > 1 else { return isAll ? escape : .incomplete }
    guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return escape }

    let parameters = bytes.dropFirst(2).prefix { (0x20...0x3F).contains($0) }
    guard parameters.count <= 16 else { return .nothing(length: 2 + parameters.count) }
    guard let last = bytes.dropFirst(2 + parameters.count).first
    else { return isAll ? escape : .incomplete }
    guard (0x40...0x7E).contains(last) else { return escape }

    let length = 3 + parameters.count
    let number = String(decoding: parameters.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    guard let key = key(endingIn: Unicode.Scalar(last), number) else {
      return .nothing(length: length)
    }
    return .key(key, length: length)
  }

  private func key(endingIn last: Unicode.Scalar, _ number: String) -> Key? {
    switch (last, number) {
    case ("A", _): .up
    case ("B", _): .down
    case ("C", _): .right
    case ("D", _): .left
    case ("H", _), ("~", "1"), ("~", "7"): .home
    case ("F", _), ("~", "4"), ("~", "8"): .end
    case ("~", "3"): .delete
    case ("~", "5"): .pageUp
    case ("~", "6"): .pageDown
    default: nil
    }
  }
}
