/// The bytes of facts. A number takes as few bytes as it can, seven bits in each.
struct FactWriter {
  private(set) var bytes: [UInt8] = []

  // A few facts need no more, and no second allocation.
  init() { bytes.reserveCapacity(128) }

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

  mutating func ids(_ ids: [HistoryEntry.ID]) {
    number(ids.count)
    for id in ids { self.id(id) }
  }

  mutating func blob(_ blob: [UInt8]) {
    number(blob.count)
    bytes += blob
  }

  mutating func optional<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
    flag(value != nil)
    if let value { write(&self, value) }
  }

  mutating func pair(_ pair: HistoryPair) {
    number(pair.name.utf8.count)
    bytes += pair.name.utf8
    blob(pair.request)
    optional(pair.response) { $0.blob($1) }
    typealias Flag = HistoryFactNumbers.PairFlag
    byte((pair.isMarked ? Flag.isMarked : 0) | (pair.isInDoubt ? Flag.isInDoubt : 0))
  }

  mutating func word(_ word: UInt64) {
    for shift in 0..<8 { byte(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
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
  /// How many bytes were read.
  var offset: Int { bytes.startIndex }
  var left: Int { bytes.count }

  mutating func byte() throws -> UInt8 {
    guard let byte = bytes.popFirst() else { throw Malformed("The record ends in a fact.") }
    return byte
  }

  mutating func flag() throws -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    case let byte: throw Malformed("A flag is \(byte).")
    }
  }

  mutating func number() throws -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 63, by: 7) {
      let byte = try byte()
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
    }
    throw Malformed("A number has more than 63 bits.")
  }

  /// A count that an `Int` of 32 bits may not hold.
  mutating func count() throws -> Int {
    let number = try number()
    guard let count = Int(exactly: number) else { throw Malformed("\(number) is too many.") }
    return count
  }

  mutating func id() throws -> HistoryEntry.ID { HistoryEntry.ID(number: try number()) }

  mutating func ids() throws -> [HistoryEntry.ID] {
    let count = try number()
    guard count <= left else { throw Malformed("More ids are announced than there are.") }
    var ids: [HistoryEntry.ID] = []
    for _ in 0..<count { ids.append(try id()) }
    return ids
  }

  mutating func blob() throws -> [UInt8] {
    let number = try number()
    guard let count = Int(exactly: number), count <= bytes.count else {
      throw Malformed("\(number) bytes are announced, and \(bytes.count) are there.")
    }
    defer { bytes.removeFirst(count) }
    return Array(bytes.prefix(count))
  }

  mutating func optional<Value>(_ read: (inout Self) throws -> Value) throws -> Value? {
    try flag() ? read(&self) : nil
  }

  mutating func pair() throws -> HistoryPair {
    typealias Flag = HistoryFactNumbers.PairFlag
    guard let name = String(validating: try blob(), as: UTF8.self) else {
      throw Malformed("The name of a use case is no text.")
    }
    let (request, response, flags) = (try blob(), try optional { try $0.blob() }, try byte())
    guard flags & ~Flag.all == 0 else { throw Malformed("The flags of a pair are \(flags).") }
    return HistoryPair(
      name: name, request: request, response: response, isMarked: flags & Flag.isMarked > 0,
      isInDoubt: flags & Flag.isInDoubt > 0)
  }

  mutating func word() throws -> UInt64 {
    var word: UInt64 = 0
    for shift in 0..<8 { word |= UInt64(try byte()) << UInt64(8 * shift) }
    return word
  }
}
