/// The bytes of facts. A number takes as few bytes as it can, seven bits in each.
struct FactWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }
  mutating func flag(_ flag: Bool) { byte(flag ? 1 : 0) }

  mutating func number(_ number: some FixedWidthInteger) {
    var rest = UInt64(number)
    while rest > 0x7f {
      byte(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    byte(UInt8(rest))
  }

  mutating func id(_ id: HistoryEntry.ID) { number(id.number) }

  mutating func blob(_ blob: [UInt8]) {
    number(blob.count)
    bytes += blob
  }

  mutating func optional<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
    flag(value != nil)
    if let value { write(&self, value) }
  }

  mutating func pair(_ pair: HistoryPair) {
    blob(Array(pair.name.utf8))
    blob(pair.request)
    optional(pair.response) { $0.blob($1) }
    byte((pair.isMarked ? 1 : 0) | (pair.isInDoubt ? 2 : 0))
  }

  mutating func place(_ place: HistoryPlace) {
    for shift in 0..<8 { byte(UInt8(truncatingIfNeeded: place.sum >> UInt64(8 * shift))) }
  }
}

/// Reads the bytes of facts. Bytes that are none make an error, and take no more memory than they
/// are.
struct FactReader {
  typealias Malformed = HistoryFact.Malformed

  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func byte() throws -> UInt8 {
    guard let byte = bytes.popFirst() else { throw Malformed() }
    return byte
  }

  mutating func flag() throws -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw Malformed()
    }
  }

  /// Numbers have 63 bits: each fits into an `Int`.
  mutating func number() throws -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 63, by: 7) {
      let byte = try byte()
      number |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte < 0x80 { return number }
    }
    throw Malformed()
  }

  mutating func count() throws -> Int { Int(try number()) }

  /// The ids that come after have room.
  mutating func id() throws -> HistoryEntry.ID {
    let number = try number()
    guard number < 1 << 62 else { throw Malformed() }
    return HistoryEntry.ID(number: number)
  }

  mutating func blob() throws -> [UInt8] {
    let count = try count()
    guard count <= bytes.count else { throw Malformed() }
    defer { bytes.removeFirst(count) }
    return Array(bytes.prefix(count))
  }

  mutating func optional<Value>(_ read: (inout Self) throws -> Value) throws -> Value? {
    try flag() ? read(&self) : nil
  }

  mutating func pair() throws -> HistoryPair {
    guard let name = String(validating: try blob(), as: UTF8.self) else { throw Malformed() }
    let (request, response, flags) = (try blob(), try optional { try $0.blob() }, try byte())
    guard flags < 4 else { throw Malformed() }
    return HistoryPair(
      name: name, request: request, response: response, isMarked: flags & 1 > 0,
      isInDoubt: flags & 2 > 0)
  }

  mutating func place() throws -> HistoryPlace {
    var sum: UInt64 = 0
    for shift in 0..<8 { sum |= UInt64(try byte()) << UInt64(8 * shift) }
    return HistoryPlace(sum: sum)
  }
}
