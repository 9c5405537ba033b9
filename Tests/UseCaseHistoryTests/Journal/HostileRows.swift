import Synchronization
import UseCase
import UseCaseHistory

/// Makes rows that no history has written: random ones, and those of real histories with changes.
///
/// The same seed makes the same rows.
struct HostileRows<Random: RandomNumberGenerator> {
  private var random: Random
  /// Rows that a history wrote, after each of its changes.
  private let real: [HistoryRows]

  init(_ random: Random, real: [HistoryRows]) {
    (self.random, self.real) = (random, real)
  }

  mutating func next() -> HistoryRows {
    switch number(20) {
    case 0: return nested()
    case 1..<8: return invented()
    default: return altered(real.randomElement(using: &random) ?? HistoryRows())
    }
  }

  private mutating func number(_ limit: Int) -> Int { .random(in: 0..<limit, using: &random) }

  private mutating func chance(_ one: Int) -> Bool { number(one) == 0 }

  /// A small number in most cases, and one at an end of its range in others.
  private mutating func absurd() -> UInt64 {
    switch number(4) {
    case 0: .random(in: .min ... .max, using: &random)
    case 1: (1 << UInt64(number(64))) &- UInt64(number(2))
    case 2: (1 << 62) &+ 2 &- UInt64(number(4))
    default: .max - UInt64(number(3))
    }
  }

  // MARK: Random rows

  private mutating func invented() -> HistoryRows {
    var rows: [Int64: [UInt8]] = [:]
    var stamps = Array(1...UInt64(30)).shuffled(using: &random)
    let groups = (0..<number(4)).map { _ in UInt64(1 + number(8)) }
    for _ in 0..<number(12) {
      let key = chance(60) ? Int64(truncatingIfNeeded: absurd()) : Int64(1 + number(16))
      var row = RowFields()
      row.state = UInt8(chance(60) ? number(256) : number(6))
      row.reason = UInt8(chance(60) ? number(256) : chance(4) ? number(7) : 2)
      row.tries = chance(10) ? UInt8(number(256)) : 0
      row.stamp = chance(40) ? absurd() : chance(40) ? 1 : stamps.popLast() ?? 1
      let isGroup = groups.contains(UInt64(clamping: key))
      row.marks = marks(isGroup)
      if let group = groups.randomElement(using: &random), chance(2) { row.parent = group }
      if chance(60) { row.parent = absurd() }
      row.rest = isGroup != chance(60) ? RowFields.title("g") : payload()
      var bytes = row.bytes
      if chance(60) { spoil(&bytes) }
      rows[key] = bytes
    }
    if !chance(50) { rows[0] = head() }
    return HistoryRows(version: version(), rows: rows)
  }

  private mutating func marks(_ isGroup: Bool) -> UInt8 {
    if chance(40) { return UInt8(number(256)) }
    let usual: [UInt8] = isGroup ? [1, 1, 1, 5, 13, 69, 17] : [0, 0, 32, 32, 2, 34, 16]
    return usual.randomElement(using: &random) ?? 0
  }

  private mutating func payload() -> [UInt8] {
    let text = "\(number(12))"
    let response: [UInt8]? = chance(4) ? nil : Array("\(number(100))".utf8)
    let name = chance(8) ? "other" : "note"
    return RowFields.payload(text, name, request: Array(text.utf8), response: response)
  }

  private mutating func head() -> [UInt8] {
    var bytes: [UInt8] = [chance(40) ? UInt8(number(256)) : 2]
    func put(_ number: UInt64) { RowFields.put(number, to: &bytes) }
    put(chance(20) ? absurd() : UInt64(number(40)))
    put(chance(20) ? absurd() : chance(2) ? 0 : UInt64(number(6)))
    bytes.append(UInt8(chance(30) ? number(256) : number(2)))
    put(chance(3) ? absurd() : 0)
    put(chance(3) ? absurd() : 0)
    put(chance(20) ? absurd() : UInt64(number(4)))
    put(chance(20) ? absurd() : UInt64(number(30)))
    if chance(30) { spoil(&bytes) }
    return bytes
  }

  private mutating func version() -> Int64 {
    chance(40) ? Int64(truncatingIfNeeded: absurd()) : Int64(1 + number(50))
  }

  /// Groups in each other, up to the limit and over it.
  private mutating func nested() -> HistoryRows {
    let depth = chance(20) ? 995 + number(12) : number(20)
    var rows: [Int64: [UInt8]] = [0: head()]
    let state = UInt8(number(6))
    for index in 1...UInt64(depth + 2) {
      var row = RowFields()
      row.state = index == 1 ? state : UInt8(chance(30) ? number(6) : number(2))
      (row.stamp, row.parent) = (index, index - 1)
      if chance(100) { row.parent = UInt64(number(Int(index))) }
      let isLeaf = index == depth + 2
      row.marks = isLeaf ? 0 : 1
      row.rest = isLeaf ? payload() : RowFields.title("g")
      rows[Int64(index)] = row.bytes
    }
    return HistoryRows(version: version(), rows: rows)
  }

  // MARK: Changes of real rows

  private mutating func altered(_ real: HistoryRows) -> HistoryRows {
    var rows = real
    for _ in 0...number(3) { change(&rows.rows) }
    if chance(40) { rows.version = version() }
    return rows
  }

  private mutating func change(_ rows: inout [Int64: [UInt8]]) {
    let keys = rows.keys.sorted()
    guard let key = keys.randomElement(using: &random), let row = rows[key],
      let other = keys.randomElement(using: &random)
    else { return rows[Int64(number(4))] = [UInt8(number(10))] }
    switch number(10) {
    case 0: rows[key] = nil
    case 1: rows[other] = row
    case 2: (rows[key], rows[other]) = (rows[other], row)
    case 3: rows[key &+ Int64(number(3)) &- 1] = row
    case 4: rows[Int64(truncatingIfNeeded: absurd())] = row
    case 5:
      var row = row
      spoil(&row)
      rows[key] = row
    case 6: rows[0] = head()
    default:
      guard key != 0, var fields = RowFields(row) else { return }
      change(&fields, keys)
      rows[key] = fields.bytes
    }
  }

  private mutating func change(_ row: inout RowFields, _ keys: [Int64]) {
    let other = UInt64(truncatingIfNeeded: keys.randomElement(using: &random) ?? 1)
    switch number(8) {
    case 0, 1: row.state = UInt8(number(6))
    case 2, 3: row.marks ^= 1 << UInt8(number(8))
    case 4: row.reason = UInt8(number(8))
    case 5: row.tries = UInt8(chance(2) ? number(4) : 255 - number(2))
    case 6: row.stamp = chance(3) ? absurd() : UInt64(number(40))
    default: row.parent = chance(3) ? absurd() : chance(2) ? 0 : other
    }
  }

  /// Changes bytes.
  private mutating func spoil(_ bytes: inout [UInt8]) {
    guard !bytes.isEmpty else { return bytes = [UInt8(number(256))] }
    let index = number(bytes.count)
    switch number(6) {
    case 0: bytes[index] = UInt8(number(256))
    case 1: bytes[index] ^= 1 << UInt8(number(8))
    case 2: bytes.insert(contentsOf: [UInt8](repeating: 0xff, count: 1 + number(10)), at: index)
    case 3: bytes.remove(at: index)
    case 4: bytes.removeLast(bytes.count - index)
    default: bytes += (0..<number(20)).map { _ in UInt8(number(256)) }
    }
  }
}

/// The parts of a row of format 2. The title, and the name, request and response, are its rest.
struct RowFields {
  var (state, marks, reason, tries) = (UInt8(1), UInt8(0), UInt8(2), UInt8(0))
  var (stamp, parent) = (UInt64(1), UInt64(0))
  var rest: [UInt8] = []

  init() {}

  /// Returns nil if the bytes are no row.
  init?(_ bytes: [UInt8]) {
    guard bytes.count > 4 else { return nil }
    (state, marks, reason, tries) = (bytes[0], bytes[1], bytes[2], bytes[3])
    var rest = bytes[4...]
    func number() -> UInt64? {
      var (number, shift) = (UInt64(0), UInt64(0))
      while shift < 64, let byte = rest.popFirst() {
        number |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return number }
        shift += 7
      }
      return nil
    }
    guard let stamp = number(), let parent = number() else { return nil }
    (self.stamp, self.parent, self.rest) = (stamp, parent, Array(rest))
  }

  var bytes: [UInt8] {
    var bytes = [state, marks, reason, tries]
    Self.put(stamp, to: &bytes)
    Self.put(parent, to: &bytes)
    return bytes + rest
  }

  static func put(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func list(_ list: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    put(UInt64(list.count), to: &bytes)
    return bytes + list
  }

  static func title(_ title: String) -> [UInt8] { list(Array(title.utf8)) }

  static func payload(
    _ title: String, _ name: String, request: [UInt8], response: [UInt8]?
  ) -> [UInt8] {
    Self.title(title) + Self.title(name) + list(request) + [response == nil ? 0 : 1]
      + list(response ?? [])
  }
}

// MARK: - Working with them

/// Opens a journal of any rows, and works with the history that it makes.
///
/// The next launch has to find what each step has left. Whatever happens, nothing traps or loops.
struct HostileSession {
  /// Something that is not as it should be.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private let journal: MemoryJournal
  private let history: UseCaseHistory

  /// Returns nil if the rows are refused.
  private init?(_ rows: HistoryRows, _ interrupted: HistoryInterruption) async throws {
    journal = MemoryJournal(rows)
    do {
      history = try await Self.open(journal, interrupted)
    } catch is HistoryJournalError {
      return nil
    } catch {
      throw Fault(description: "open throws \(error)")
    }
  }

  private static func open(
    _ journal: MemoryJournal, _ interrupted: HistoryInterruption
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(
      journal, for: [HostileNote()], interrupted: interrupted, limit: 8)
  }

  /// Returns whether the rows were opened.
  static func run(_ rows: HistoryRows, _ interrupted: HistoryInterruption) async throws -> Bool {
    guard let session = try await Self(rows, interrupted) else { return false }
    let history = session.history
    try await session.check("after the opening")
    await history.undo().ended()
    try await session.check("after an undo")
    await history.redo().ended()
    await history.undo(in: .keys("2")).ended()
    try await session.check("after a redo, and an undo in a document")
    await history.move(to: history.entries.first?.id).ended()
    try await session.check("after a move")
    if let entry = history.entries.last { await history.redo(entry.id).ended() }
    if let entry = history.entries.first { history.forget(entry.id) }
    await history.execute(HostileNote(), "1").ended()
    try await session.check("after an execution")
    if let entry = history.entries.first { await history.undo(entry.id).ended() }
    await history.group("G") { _ = try await HostileNote().recorded(in: history)("5") }.ended()
    history.markSaved(history.savePoint())
    try await session.check("after a group")
    history.clear()
    try await session.check("after a clear")
    return true
  }

  /// The next launch finds the entries that are there.
  private func check(_ moment: String) async throws {
    await history.idle()
    let before = Self.words(history)
    // A history that can't be written says so, and goes on from what is there.
    if history.journalError != nil { return }
    do {
      let next = try await Self.open(MemoryJournal(journal.rows.withLock { $0 }), .keep)
      let words = Self.words(next)
      if words == before { return }
      throw Fault(description: "\(moment):\(before)\nis another at the next launch:\(words)")
    } catch let error as HistoryJournalError {
      throw Fault(description: "\(moment):\(before)\ndoes not open again: \(error)")
    }
  }

  private static func words(_ history: UseCaseHistory) -> String {
    let (entries, state) = (history.entries, history.state)
    let lines = entries.map { entry in
      words(entry, "\n") + (entry.isApplied ? " \(history.blockers(of: entry.id))" : "")
    }
    return lines.joined()
      + "\n\(state.isClean) \(state.canUndo) \(state.canRedo) \(state.undoCount) \(state.redoCount)"
  }

  private static func words(_ entry: HistoryEntry, _ start: String) -> String {
    var (words, rest) = ("", [(entry, start)])
    while let (entry, start) = rest.popLast() {
      words += "\(start)\(entry) \(entry.isApplied) \(entry.standing)"
      rest += entry.children.reversed().map { ($0, start + " ") }
    }
    return words
  }
}

/// A journal in memory, which keeps what it was after each change.
final class MemoryJournal: HistoryJournal {
  let coder: any HistoryCoder = WordCoder()
  let rows: Mutex<HistoryRows>
  private let changes = Mutex<[HistoryRows]>([])

  init(_ rows: HistoryRows = HistoryRows()) { self.rows = Mutex(rows) }

  /// The rows after each change.
  var versions: [HistoryRows] { changes.withLock { $0 } }

  func read() async throws -> HistoryRows { rows.withLock { $0 } }

  func write(_ change: HistoryChange) async throws {
    let new = try rows.withLock { rows in
      guard rows.version == change.version else { throw HistoryJournalError(.stale) }
      guard rows.version < .max else { throw HistoryJournalError(.cannotWrite) }
      rows.version += 1
      for row in change.rows { rows.rows[row.key] = row.bytes }
      return rows
    }
    changes.withLock { $0.append(new) }
  }
}

/// A coder of strings and numbers, in their own words.
private struct WordCoder: HistoryCoder {
  struct Failure: Error {}

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { Array("\(value)".utf8) }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure() }
    if let text = text as? Value { return text }
    guard let number = Int(text) as? Value else { throw Failure() }
    return number
  }
}

/// Its answers depend on the request only.
struct HostileNote: JournaledUseCase {
  struct Failure: Error {}

  static let journalName = "note"

  func main(_ text: String) async throws -> Int { text.utf8.count }
  func undo(_ text: String, _: Int) async throws {
    if text.contains("4") { throw Failure() }
    if text.contains("6") { throw HistoryObsolete() }
  }
  func title(for text: String) -> String { text }
  func footprint(of text: String, _: Int) -> HistoryFootprint {
    text.contains("9") ? .everything : text.contains("8") ? .keys() : .keys(text)
  }
  func settle(_ doubt: HistoryDoubt<String, Int>) async throws -> HistorySettlement<Int> {
    switch doubt {
    case .execution(let text), .undo(let text, _), .redo(let text, _):
      text.contains("2") ? .hadEffect(1) : text.contains("3") ? .hadNoEffect : .unknown
    }
  }
}

extension HostileRows {
  /// Returns the rows that a random session writes, after each of its changes.
  static func written(_ random: inout Random) async throws -> [HistoryRows] {
    let journal = MemoryJournal()
    let history = try await UseCaseHistory.open(
      journal, for: [HostileNote()], limit: 6, mergeWindow: .zero)
    let note = HostileNote().recorded(in: history)
    for _ in 0..<14 {
      let text = "\(Int.random(in: 0..<12, using: &random))"
      let entry = history.entries.randomElement(using: &random)?.id
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<4: await history.execute(HostileNote(), text).ended()
      case 4..<7:
        let fails = Bool.random(using: &random)
        await history.group("g") {
          _ = try await note(text)
          try await history.group("n") { _ = try await (note("1"), note("5")) }.value
          _ = try await note("7")
          if fails { throw HostileNote.Failure() }
        }.ended()
      case 7, 8: await history.undo().ended()
      case 9: await history.redo().ended()
      case 10: if let entry { await history.undo(entry).ended() }
      default: if let entry { history.forget(entry) }
      }
    }
    await history.idle()
    return journal.versions
  }
}
