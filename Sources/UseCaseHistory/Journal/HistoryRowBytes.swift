/// Format 2. The numbers of states and marks are their raw values.
///
/// The row with the key 0 is the head of the history. The row of an entry or of a part has its id as
/// key. A number is a varint, seven bits at a time, the lowest first; a list of bytes has its length
/// in front.
enum RowFormat {
  static var version: UInt8 { 2 }
  static var headKey: Int64 { 0 }

  /// A higher id or stamp is refused: later launches count on from the highest one.
  static var highestID: UInt64 { 1 << 62 }
}

extension HistoryDiscardReason {
  fileprivate var number: UInt8 {
    switch self {
    case .truncated: 0
    case .evicted: 1
    case .cleared: 2
    case .merged: 3
    case .annulled: 4
    case .obsolete: 5
    case .forgotten: 6
    }
  }

  fileprivate init?(number: UInt8) {
    switch number {
    case 0: self = .truncated
    case 1: self = .evicted
    case 2: self = .cleared
    case 3: self = .merged
    case 4: self = .annulled
    case 5: self = .obsolete
    case 6: self = .forgotten
    default: return nil
    }
  }
}

// MARK: - The head

/// The head of a history, as it is written.
struct HeadRow: Equatable, Sendable {
  var head: HistoryTable<any HistoryStep>.Head
  /// Ids up to this one were given, or may have been.
  var newestID: UInt64

  var bytes: [UInt8] {
    var bytes = RowBytes()
    bytes.put(RowFormat.version)
    bytes.put(newestID)
    bytes.put(head.limit.map { UInt64($0) + 1 } ?? 0)
    bytes.put(UInt8(head.saved == nil ? 0 : 1))
    bytes.put(head.saved?.sum ?? 0)
    bytes.put(head.rowless.sum.sum)
    bytes.put(head.rowless.unknowns)
    bytes.put(head.rowless.covered)
    return bytes.bytes
  }

  /// Returns nil if the bytes are no head.
  init?(_ bytes: [UInt8]) {
    var bytes = RowReader(bytes)
    guard let version = bytes.byte(), version == RowFormat.version,
      let newestID = bytes.number(),
      let limit = bytes.number(), let hasSaved = bytes.byte(),
      hasSaved < 2, let saved = bytes.number(), let rest = bytes.number(),
      let unknowns = bytes.number(), let covered = bytes.number(), bytes.isAtEnd
    else { return nil }
    head = .init()
    head.limit = limit == 0 ? nil : Int(clamping: limit - 1)
    head.saved = hasSaved == 0 ? nil : HistoryPlace(sum: saved)
    head.rowless = RowlessEffects(
      sum: HistoryPlace(sum: rest), unknowns: unknowns, covered: covered)
    self.newestID = newestID
    if !isInRange { return nil }
  }

  /// Whether the next launch can go on counting.
  var isInRange: Bool {
    [newestID, head.rowless.unknowns, head.rowless.covered].allSatisfy { $0 <= RowFormat.highestID }
  }

  init(_ head: HistoryTable<any HistoryStep>.Head, newestID: UInt64) {
    (self.head, self.newestID) = (head, newestID)
  }
}

// MARK: - An entry

/// An execution as it is written: bytes of the coder, and the name of the use case.
struct HistoryPair: Sendable {
  let name: String
  let title: [UInt8]
  let request: [UInt8]
  /// Nil before there is one, and if it could not be encoded.
  var response: [UInt8]?
}

extension HistoryRow<any HistoryStep> {
  /// Returns the row as it is written: with the execution, or with the encoded title of a group, which
  /// has none.
  func bytes(_ pair: HistoryPair?, title: [UInt8]) -> [UInt8] {
    var bytes = RowBytes()
    bytes.put(state.rawValue)
    let isKeyed = !marks.contains(.unreadable) && !isGroup && footprint != .everything
    bytes.put(marks.subtracting(.unreadable).union(isKeyed ? .keyed : []).rawValue)
    bytes.put(reason.number)
    bytes.put(tries)
    bytes.put(stamp)
    bytes.put(parent.number)
    bytes.put(pair?.title ?? title)
    guard let pair else { return bytes.bytes }
    bytes.put(Array(pair.name.utf8))
    bytes.put(pair.request)
    bytes.put(UInt8(pair.response == nil ? 0 : 1))
    bytes.put(pair.response ?? [])
    return bytes.bytes
  }

  /// Returns nil if the bytes are no row. The title of the row is empty, and it has no step.
  static func read(
    _ id: UInt64, _ bytes: [UInt8]
  ) -> (row: Self, title: [UInt8], pair: HistoryPair?)? {
    var bytes = RowReader(bytes)
    guard id > 0, id <= RowFormat.highestID,
      let state = bytes.byte().flatMap(State.init(rawValue:)),
      let marks = bytes.byte().map(Marks.init(rawValue:)), !marks.contains(.unreadable),
      let reason = bytes.byte().flatMap(HistoryDiscardReason.init(number:)),
      let tries = bytes.byte(), let stamp = bytes.number(), stamp <= RowFormat.highestID,
      let parent = bytes.number(), parent < id, let title = bytes.list()
    else { return nil }
    var row = Self(id: HistoryEntry.ID(number: id), title: "", step: nil)
    (row.state, row.marks, row.reason) = (state, marks, reason)
    (row.tries, row.stamp, row.parent) = (tries, stamp, HistoryEntry.ID(number: parent))
    if row.isGroup { return bytes.isAtEnd ? (row, title, nil) : nil }
    guard let name = bytes.list().flatMap({ String(validating: $0, as: UTF8.self) }),
      let request = bytes.list(), let hasResponse = bytes.byte(),
      hasResponse < 2, let response = bytes.list(), bytes.isAtEnd
    else { return nil }
    let pair = HistoryPair(
      name: name, title: title, request: request, response: hasResponse == 0 ? nil : response)
    return (row, title, pair)
  }
}

// MARK: - Numbers and lists

private struct RowBytes {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ byte: UInt8) { bytes.append(byte) }

  mutating func put(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(_ list: [UInt8]) {
    put(UInt64(list.count))
    bytes += list
  }
}

private struct RowReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8? { rest.popFirst() }

  /// Returns nil for a number that is too large, or longer than it has to be.
  mutating func number() -> UInt64? {
    var (number, shift) = (UInt64(0), UInt64(0))
    while let byte = rest.popFirst() {
      let bits = UInt64(byte & 0x7f)
      if shift == 63, bits > 1 { return nil }
      number |= bits << shift
      if byte < 0x80 { return byte == 0 && shift > 0 ? nil : number }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  mutating func list() -> [UInt8]? {
    guard let count = number(), count <= UInt64(rest.count) else { return nil }
    defer { rest.removeFirst(Int(count)) }
    return Array(rest.prefix(Int(count)))
  }
}
