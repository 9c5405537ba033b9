import UseCaseHistory

/// Reads the rows of a journal file from its bytes.
///
/// The reader knows no file. It keeps only bytes whose checksum is right, however long the file and
/// its rows claim to be.
struct JournalReader {
  /// The rows after the last whole change.
  private(set) var rows = HistoryRows()
  /// Where the last whole change ends, and the next one goes.
  private(set) var end = Int64(JournalFormat.headerSize)

  private var file: ByteWindow
  /// Where the whole part of the file ends.
  private let whole: Int64
  /// Where the next row begins.
  private var offset = Int64(JournalFormat.headerSize)
  /// The rows between `end` and `offset`, of a change that has not ended.
  private var change: [(key: Int64, bytes: [UInt8]?)] = []
  /// The version that the next row has, nil if it is the first one.
  private var version: Int64?

  /// The longest tail without a right row that is taken for a torn change, and not for damage.
  /// A change that was cut off can be longer, because its rows are right.
  private static let longestTail: Int64 = 1 << 24

  /// Reads all rows.
  ///
  /// - Throws: A `JournalFault`, or the error of the window.
  init(_ bytes: consuming ByteWindow) throws {
    file = bytes
    let start = try file.bytes(upTo: JournalFormat.headerSize, at: 0)
    whole = try JournalFormat.whole(of: start, size: file.size)
    while try takeRow() {}
    if end < whole { throw JournalFault.damaged(at: end) }
  }

  /// Takes the row at `offset`. Returns false at the end, or at a torn tail.
  private mutating func takeRow() throws -> Bool {
    guard offset < file.size else { return false }
    guard let row = try row(at: offset), row.version == version ?? row.version,
      let bytes = try bytes(of: row)
    else {
      try checkTail()
      return false
    }
    try take(row, bytes)
    return true
  }

  private mutating func row(at offset: Int64) throws -> JournalFormat.Row? {
    let header = try file.bytes(upTo: JournalFormat.rowHeaderSize, at: offset)
    return header.count == JournalFormat.rowHeaderSize ? JournalFormat.Row(header) : nil
  }

  /// Returns the bytes of the row at `offset`, nil if they are not there, or are others.
  private mutating func bytes(of row: JournalFormat.Row) throws -> [UInt8]? {
    let start = offset + Int64(JournalFormat.rowHeaderSize)
    guard row.length <= file.size - start,
      try file.checksum(of: row.length, at: start) == row.checksum
    else { return nil }
    return try file.all(row.length, at: start)
  }

  private mutating func take(_ row: JournalFormat.Row, _ bytes: [UInt8]) throws {
    switch row.kind {
    case .bytes: change.append((row.key, bytes))
    case .gone: change.append((row.key, nil))
    case .none where row.isLast && offset == end: break
    case .none: throw JournalFault.damaged(at: offset)
    }
    offset += Int64(JournalFormat.rowHeaderSize + row.length)
    version = row.version
    // The whole part ends with a change.
    if end < whole, offset > whole || offset == whole && !row.isLast {
      throw JournalFault.damaged(at: end)
    }
    guard row.isLast else { return }
    for (key, bytes) in change { rows.rows[key] = bytes }
    change.removeAll()
    rows.version = row.version
    end = offset
    version = row.version &+ 1
  }

  /// The row at `offset` is wrong. It was being appended when the process or the power went away, if
  /// the file was longer than its whole part, and nothing of a later change is behind it.
  private mutating func checkTail() throws {
    if end < whole { throw JournalFault.damaged(at: offset) }
    var next = offset + 1
    if let row = try row(at: offset) {
      guard row.version == version else { throw JournalFault.damaged(at: offset) }
      next = offset + Int64(JournalFormat.rowHeaderSize + row.length)
      if next > file.size { return }
    }
    guard file.size - offset <= Self.longestTail, try !hasLaterChange(behind: next)
    else { throw JournalFault.damaged(at: offset) }
  }

  private mutating func hasLaterChange(behind offset: Int64) throws -> Bool {
    let size = JournalFormat.rowHeaderSize
    var (offset, version) = (offset, version ?? .max)
    while true {
      let bytes = try file.bytes(upTo: ByteWindow.longest, at: offset)
      guard bytes.count >= size else { return false }
      for start in bytes.startIndex...bytes.endIndex - size {
        let row = JournalFormat.Row(bytes[start..<start + size])
        if let row, row.version > version { return true }
      }
      offset += Int64(bytes.count - size + 1)
    }
  }
}

/// The bytes of a file, of which a window is in memory.
struct ByteWindow {
  static let longest = 1 << 18

  let size: Int64
  private let load: (_ offset: Int64, _ count: Int) throws -> [UInt8]
  private var start: Int64 = 0
  private var window: [UInt8] = []

  /// Creates a window of a file of this size. The closure returns so many bytes of it, or fewer if it
  /// ends before.
  init(_ size: Int64, _ load: @escaping (_ offset: Int64, _ count: Int) throws -> [UInt8]) {
    (self.size, self.load) = (size, load)
  }

  /// Returns so many bytes, not more than the longest window has, or fewer at the end of the file.
  mutating func bytes(upTo count: Int, at offset: Int64) throws -> ArraySlice<UInt8> {
    let count = Int(max(0, min(Int64(count), size - offset)))
    if offset < start || offset + Int64(count) > start + Int64(window.count) {
      window = []
      window = try load(offset, Int(max(0, min(Int64(Self.longest), size - offset))))
      start = offset
    }
    return window.dropFirst(Int(offset - start)).prefix(count)
  }

  mutating func checksum(of count: Int, at offset: Int64) throws -> UInt32 {
    var (checksum, rest, offset) = (Checksum(), count, offset)
    while rest > 0 {
      let bytes = try bytes(upTo: min(rest, Self.longest), at: offset)
      if bytes.isEmpty { break }
      checksum.add(bytes)
      rest -= bytes.count
      offset += Int64(bytes.count)
    }
    return checksum.value
  }

  /// Returns so many bytes, or fewer at the end of the file.
  mutating func all(_ count: Int, at offset: Int64) throws -> [UInt8] {
    count <= Self.longest ? Array(try bytes(upTo: count, at: offset)) : try load(offset, count)
  }
}
