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
    flag(pair.isMarked)
  }

  mutating func place(_ place: HistoryPlace) {
    for shift in 0..<8 { byte(UInt8(truncatingIfNeeded: place.sum >> UInt64(8 * shift))) }
  }
}

/// Reads the bytes of facts. Bytes that are none make an error, and take no more memory than they are.
struct FactReader {
  struct Malformed: Error {}

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

  /// Numbers have fewer than 63 bits: nothing is ever counted beyond.
  mutating func number() throws -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 63, by: 7) {
      let byte = try byte()
      number |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte < 0x80 {
        guard number < 1 << 62 else { throw Malformed() }
        return number
      }
    }
    throw Malformed()
  }

  mutating func count() throws -> Int { Int(try number()) }
  mutating func id() throws -> HistoryEntry.ID { HistoryEntry.ID(number: try number()) }

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
    return HistoryPair(
      name: name, request: try blob(), response: try optional { try $0.blob() },
      isMarked: try flag())
  }

  mutating func place() throws -> HistoryPlace {
    var sum: UInt64 = 0
    for shift in 0..<8 { sum |= UInt64(try byte()) << UInt64(8 * shift) }
    return HistoryPlace(sum: sum)
  }
}

extension HistoryFact {
  private enum Tag: UInt8 {
    case began = 1
    case undoing, redoing, failed, answered, combined, ended, undone, redone
    case opened, closed, moves, moved, limited, cleared, saved, discarded, doubted
    case start, leaf, bundle, kept, partial, adopted, dropped, obsolete, undoes, forgot
  }

  func write(to writer: inout FactWriter) {
    func tag(_ tag: Tag) { writer.byte(tag.rawValue) }
    func tag(_ tag: Tag, _ id: ID) {
      writer.byte(tag.rawValue)
      writer.id(id)
    }
    switch self {
    case .began(let id, let group, let pair):
      tag(.began, id)
      writer.optional(group) { $0.id($1) }
      writer.pair(pair)
    case .undoing(let id): tag(.undoing, id)
    case .redoing(let id): tag(.redoing, id)
    case .failed(let id): tag(.failed, id)
    case .answered(let id, let response, let isMarked):
      tag(.answered, id)
      writer.optional(response) { $0.blob($1) }
      writer.flag(isMarked)
    case .combined(let id, let pair):
      tag(.combined, id)
      writer.pair(pair)
    case .ended(let id, let end):
      tag(.ended, id)
      writer.byte(end.rawValue)
    case .undone(let id): tag(.undone, id)
    case .redone(let id, let response, let isMarked):
      tag(.redone, id)
      writer.optional(response) { $0.blob($1) }
      writer.flag(isMarked)
    case .obsolete(let id, let place):
      tag(.obsolete, id)
      writer.id(place)
    case .undoes(let id): tag(.undoes, id)
    case .forgot(let id): tag(.forgot, id)
    case .opened(let id, let group, let title):
      tag(.opened, id)
      writer.optional(group) { $0.id($1) }
      writer.blob(title)
    case .closed(let id, let applied, let isLost):
      tag(.closed, id)
      writer.optional(applied) { $0.number($1) }
      writer.flag(isLost)
    case .moves(let isRedo, let count):
      tag(.moves)
      writer.flag(isRedo)
      writer.number(count)
    case .moved: tag(.moved)
    case .limited(let limit):
      tag(.limited)
      writer.optional(limit) { $0.number($1) }
    case .cleared: tag(.cleared)
    case .saved(let place):
      tag(.saved)
      writer.optional(place) { $0.place($1) }
    case .discarded(let ids):
      tag(.discarded)
      writer.number(ids.count)
      for id in ids { writer.id(id) }
    case .doubted(let id): tag(.doubted, id)
    case .start(let last, let newest, let marks):
      tag(.start, newest)
      writer.number(last)
      writer.place(marks.sum)
      writer.number(marks.lastNumber)
      writer.number(marks.covered)
    case .leaf(let id, let pair):
      tag(.leaf, id)
      writer.pair(pair)
    case .bundle(let id, let title, let place, let count):
      tag(.bundle, id)
      writer.blob(title)
      writer.place(place)
      writer.number(count)
    case .kept(let isApplied):
      tag(.kept)
      writer.flag(isApplied)
    case .partial(let count):
      tag(.partial)
      writer.number(count)
    case .adopted(let group): tag(.adopted, group)
    case .dropped(let reason):
      tag(.dropped)
      writer.byte(UInt8(Self.reasons.firstIndex(of: reason) ?? 0))
    }
  }

  init(from reader: inout FactReader) throws {
    guard let tag = Tag(rawValue: try reader.byte()) else { throw FactReader.Malformed() }
    switch tag {
    case .began:
      self = .began(try reader.id(), in: try reader.optional { try $0.id() }, try reader.pair())
    case .undoing: self = .undoing(try reader.id())
    case .redoing: self = .redoing(try reader.id())
    case .failed: self = .failed(try reader.id())
    case .answered:
      let (id, response) = (try reader.id(), try reader.optional { try $0.blob() })
      self = .answered(id, response, isMarked: try reader.flag())
    case .combined: self = .combined(try reader.id(), try reader.pair())
    case .ended:
      let id = try reader.id()
      guard let end = End(rawValue: try reader.byte()) else { throw FactReader.Malformed() }
      self = .ended(id, end)
    case .undone: self = .undone(try reader.id())
    case .redone:
      let (id, response) = (try reader.id(), try reader.optional { try $0.blob() })
      self = .redone(id, response, isMarked: try reader.flag())
    case .obsolete: self = .obsolete(try reader.id(), place: try reader.id())
    case .undoes: self = .undoes(try reader.id())
    case .forgot: self = .forgot(try reader.id())
    case .opened:
      let (id, group) = (try reader.id(), try reader.optional { try $0.id() })
      self = .opened(id, in: group, title: try reader.blob())
    case .closed:
      let (id, applied) = (try reader.id(), try reader.optional { try $0.count() })
      self = .closed(id, applied: applied, isLost: try reader.flag())
    case .moves: self = .moves(isRedo: try reader.flag(), count: try reader.count())
    case .moved: self = .moved
    case .limited: self = .limited(try reader.optional { try $0.count() })
    case .cleared: self = .cleared
    case .saved: self = .saved(try reader.optional { try $0.place() })
    case .discarded:
      var ids: [ID] = []
      for _ in 0..<(try reader.count()) { ids.append(try reader.id()) }
      self = .discarded(ids)
    case .doubted: self = .doubted(try reader.id())
    case .start:
      let (newest, last, sum) = (try reader.id(), try reader.number(), try reader.place())
      let marks = HistoryMarks(
        sum: sum, lastNumber: try reader.number(), covered: try reader.count())
      self = .start(last: last, newest: newest, marks)
    case .leaf: self = .leaf(try reader.id(), try reader.pair())
    case .bundle:
      let (id, title, place) = (try reader.id(), try reader.blob(), try reader.place())
      self = .bundle(id, title: title, place, count: try reader.count())
    case .kept: self = .kept(isApplied: try reader.flag())
    case .partial: self = .partial(try reader.count())
    case .adopted: self = .adopted(by: try reader.id())
    case .dropped:
      let index = Int(try reader.byte())
      guard Self.reasons.indices.contains(index) else { throw FactReader.Malformed() }
      self = .dropped(Self.reasons[index])
    }
  }

  /// In the order of their numbers in a journal.
  private static let reasons: [HistoryDiscardReason] = [
    .truncated, .evicted, .cleared, .merged, .annulled, .obsolete, .forgotten,
  ]
}

/// The facts of a record.
///
/// What is appended has numbers, which grow: a fact that comes again, because nobody knew whether it
/// had been written, has been told already. What is written anew has none.
enum FactRecord {
  private static let version: UInt8 = 1

  static func bytes(of facts: some Collection<HistoryFact>) -> [UInt8] {
    var writer = FactWriter()
    writer.byte(version)
    writer.flag(false)
    for fact in facts { fact.write(to: &writer) }
    return writer.bytes
  }

  static func bytes(
    ofNumbered facts: some Collection<(number: UInt64, fact: HistoryFact)>
  ) -> [UInt8] {
    var (writer, last) = (FactWriter(), UInt64(0))
    writer.byte(version)
    writer.flag(true)
    for (number, fact) in facts {
      writer.number(number - last)
      last = number
      fact.write(to: &writer)
    }
    return writer.bytes
  }

  /// Calls `body` with each fact, and its number if it has one.
  static func read(
    _ bytes: [UInt8], _ body: (UInt64?, HistoryFact) throws -> Void
  ) throws {
    var (reader, number) = (FactReader(bytes), UInt64(0))
    guard try reader.byte() == version else { throw FactReader.Malformed() }
    let isNumbered = try reader.flag()
    while !reader.isAtEnd {
      if isNumbered { number += try reader.number() }
      guard number < 1 << 62 else { throw FactReader.Malformed() }
      try body(isNumbered ? number : nil, HistoryFact(from: &reader))
    }
  }
}
