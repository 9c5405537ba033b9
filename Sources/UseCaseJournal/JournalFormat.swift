/// The bytes of a journal file: a header, then the changes. The first change has all rows that there
/// were when the file was made. Each one behind it has the next version.
///
///     header   89 "UCJ" 0d 0a 1a 0a   format   length of the whole part   checksum of all three
///     change   its rows, one behind the other, of which the last one says so
///     row      marks and length   checksum of the bytes   key   version   checksum of all four
///              the bytes
///
/// The lowest byte of a number comes first. The length of the whole part, keys and versions have
/// eight bytes, and every other number four. In the marks and the length, the highest bit marks the
/// last row of a change, the second one a row that goes, and the third one no row: it stands in a
/// change that has none. The version is that of the rows after the change.
///
/// A file is synced before it gets its name. The header says how long it was then: so much of it is
/// there, or the file is damaged. Only a change that was appended later can be torn.
///
/// These numbers are for ever. Every format has the magic bytes, its number and the checksum of the
/// header in these places.
enum JournalFormat {
  private static let magic: [UInt8] = [0x89] + Array("UCJ\r\n\u{1a}\n".utf8)
  private static let format: UInt32 = 2
  static let headerSize = 24
  static let rowHeaderSize = 28
  static let longestRow = 1 << 28
  private static let (last, gone, none): (UInt32, UInt32, UInt32) = (1 << 31, 1 << 30, 1 << 29)

  /// Returns the header of a file whose first `whole` bytes are synced before it gets its name.
  static func header(whole: Int64) -> [UInt8] {
    var header = magic
    append(format, to: &header)
    append(whole, to: &header)
    append(Checksum.of(header[...]), to: &header)
    return header
  }

  /// Adds a row of a change to this version. The bytes are nil if the row goes, and the row is nil in a
  /// change without rows.
  static func append(
    _ row: (key: Int64, bytes: [UInt8]?)?, version: Int64, isLast: Bool, to bytes: inout [UInt8]
  ) {
    let start = bytes.count
    let marks = (isLast ? last : 0) | (row == nil ? none : row?.bytes == nil ? gone : 0)
    let content = row?.bytes ?? []
    append(marks | UInt32(content.count), to: &bytes)
    append(Checksum.of(content[...]), to: &bytes)
    append(row?.key ?? 0, to: &bytes)
    append(version, to: &bytes)
    append(Checksum.of(bytes[start...]), to: &bytes)
    bytes += content
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }
}

// MARK: - Reading

extension JournalFormat {
  /// Reads the header of a file that has so many bytes, of which at least the header is given.
  /// Returns where the whole part ends.
  static func whole(of file: ArraySlice<UInt8>, size: Int64) throws(JournalFault) -> Int64 {
    guard file.count >= headerSize else {
      let isCut = file.starts(with: magic) || magic.starts(with: file)
      throw isCut ? .damaged(at: Int64(file.count)) : .foreign
    }
    guard file.starts(with: magic) else { throw .foreign }
    guard number(at: headerSize - 4, in: file) == Checksum.of(file.prefix(headerSize - 4))
    else { throw .damaged(at: Int64(magic.count)) }
    guard number(at: magic.count, in: file) == format else { throw .foreign }
    let whole: Int64 = number(at: magic.count + 4, in: file)
    guard whole >= headerSize + rowHeaderSize else { throw .damaged(at: Int64(magic.count)) }
    guard whole <= size else { throw .damaged(at: size) }
    return whole
  }

  /// The content of a row's header.
  struct Row {
    enum Kind { case bytes, gone, none }

    let kind: Kind
    let isLast: Bool
    let length: Int
    let checksum: UInt32
    let key: Int64
    let version: Int64

    /// Returns nil if these bytes are no header of a row.
    init?(_ header: ArraySlice<UInt8>) {
      let size: UInt32 = number(at: 0, in: header)
      switch size & (gone | none) {
      case 0: kind = .bytes
      case gone: kind = .gone
      case none: kind = .none
      default: return nil
      }
      (isLast, length) = (size & last != 0, Int(size & (none - 1)))
      guard length <= (kind == .bytes ? longestRow : 0),
        number(at: rowHeaderSize - 4, in: header) == Checksum.of(header.prefix(rowHeaderSize - 4))
      else { return nil }
      checksum = number(at: 4, in: header)
      (key, version) = (number(at: 8, in: header), number(at: 16, in: header))
      if key < 0 || version < 0 { return nil }
    }
  }

  private static func number<Number: FixedWidthInteger>(
    at offset: Int, in bytes: ArraySlice<UInt8>
  ) -> Number {
    let bytes = bytes[(bytes.startIndex + offset)...].prefix(Number.bitWidth / 8)
    precondition(bytes.count == Number.bitWidth / 8, "The bytes of a number are not all there.")
    return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
  }
}

/// The reason why bytes are no journal.
enum JournalFault: Error, Equatable {
  /// Something is wrong here, and it is no torn change at the end.
  case damaged(at: Int64)
  /// Another format, or no journal.
  case foreign
}

/// CRC-32C, the checksum of iSCSI, ext4 and many log files. It finds each error of one byte.
struct Checksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0x82f6_3b78 ^ value >> 1 : value >> 1
    }
  }

  private var state = UInt32.max

  var value: UInt32 { ~state }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    Self.table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBufferPointer { bytes in
        var state = state
        for byte in bytes {
          state = table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8
        }
        self.state = state
      }
    }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var checksum = Self()
    checksum.add(bytes)
    return checksum.value
  }
}
