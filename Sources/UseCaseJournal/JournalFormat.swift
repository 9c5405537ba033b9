/// The bytes of a journal file: a header, then a frame for each record.
///
///     89 "UCJ" 0d 0a 1a 0a   version   length of the whole part   checksum of all three
///     length   checksum of the record   checksum of both numbers   the record
///     …
///
/// The lowest byte of a number comes first. The length of the whole part has eight bytes, and every
/// other number four. A frame's length has a checksum of its own, so that a wrong one is not
/// mistaken for a record that was cut off.
///
/// A file is synced before it gets its name. The header says how long it was then: so much of it is
/// there, or the file is damaged. Only a record that was appended later can be torn.
///
/// These numbers are for ever. Every version has the magic bytes, the version and the checksum in
/// these places.
enum JournalFormat {
  private static let magic: [UInt8] = [0x89] + Array("UCJ\r\n\u{1a}\n".utf8)
  private static let version: UInt32 = 1
  private static let frameSize = 12
  static let headerSize = 24

  /// The longest record that a frame can hold.
  static let longest = UInt32.max

  /// Returns the header of a file whose first `whole` bytes are synced before it gets its name.
  static func header(whole: UInt64) -> [UInt8] {
    var header = magic
    append(version, to: &header)
    append(whole, to: &header)
    append(Checksum.of(header[...]), to: &header)
    return header
  }

  /// Returns the length of a file of these records, nil if one of them is too long.
  static func size(of records: [[UInt8]]) -> UInt64? {
    var size = UInt64(headerSize)
    for record in records {
      guard record.count <= longest else { return nil }
      size += UInt64(frameSize + record.count)
    }
    return size
  }

  /// Returns the record with its frame.
  static func frame(_ record: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(frameSize + record.count)
    append(UInt32(record.count), to: &frame)
    append(Checksum.of(record[...]), to: &frame)
    append(Checksum.of(frame[...]), to: &frame)
    frame += record
    return frame
  }

  private static func append(
    _ number: some FixedWidthInteger & UnsignedInteger, to bytes: inout [UInt8]
  ) {
    for byte in 0..<number.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte)))
    }
  }
}

// MARK: - Reading

extension JournalFormat {
  enum Content: Equatable {
    /// The whole records, and where the file is to be cut: behind the last of them.
    case records([Range<Int>], end: Int)
    /// Something is wrong here, and it is no torn record at the end.
    case damaged(at: Int)
    /// Another format, or another version.
    case foreign
  }

  enum Start: Equatable {
    /// So much of the file is whole.
    case whole(end: Int)
    case damaged(at: Int)
    case foreign
  }

  /// Reads the header of a file that has so many bytes, of which at least the header is given.
  static func start(of file: [UInt8], size: Int) -> Start {
    guard file.count >= headerSize else {
      let isCut = file.starts(with: magic) || magic.starts(with: file)
      return isCut ? .damaged(at: file.count) : .foreign
    }
    guard file.starts(with: magic) else { return .foreign }
    let checksum: UInt32 = number(at: headerSize - 4, in: file)
    guard checksum == Checksum.of(file[..<(headerSize - 4)]) else {
      return .damaged(at: magic.count)
    }
    guard number(at: magic.count, in: file) == version else { return .foreign }
    let whole: UInt64 = number(at: magic.count + 4, in: file)
    guard whole >= UInt64(headerSize) else { return .damaged(at: magic.count) }
    guard let end = Int(exactly: whole), end <= size else { return .damaged(at: size) }
    return .whole(end: end)
  }

  static func content(of file: [UInt8]) -> Content {
    switch start(of: file, size: file.count) {
    case .whole(let end): records(in: file, wholeTo: end)
    case .damaged(let offset): .damaged(at: offset)
    case .foreign: .foreign
    }
  }

  private static func records(in file: [UInt8], wholeTo whole: Int) -> Content {
    var (records, offset) = ([Range<Int>](), headerSize)
    while offset < file.count {
      guard let end = end(at: offset, in: file), end <= UInt64(file.count),
        offset >= whole || end <= UInt64(whole)
      else { return tail(offset, records, in: file, wholeTo: whole) }
      let record = offset + frameSize..<Int(end)
      guard number(at: offset + 4, in: file) == Checksum.of(file[record])
      else { return tail(offset, records, in: file, wholeTo: whole) }
      records.append(record)
      offset = record.upperBound
    }
    return .records(records, end: offset)
  }

  /// The frame at `offset` is wrong. It was being appended when the process or the power went away,
  /// if the file was longer than its whole part, and no other frame begins behind it.
  private static func tail(
    _ offset: Int, _ records: [Range<Int>], in file: [UInt8], wholeTo whole: Int
  ) -> Content {
    let torn = Content.records(records, end: offset)
    if offset < whole { return .damaged(at: offset) }
    if let end = end(at: offset, in: file), end >= UInt64(file.count) { return torn }
    let isFollowed = (offset + 1..<max(offset + 1, file.count - frameSize + 1)).contains { next in
      end(at: next, in: file).map { $0 <= UInt64(file.count) } ?? false
    }
    return isFollowed ? .damaged(at: offset) : torn
  }

  /// Returns where the frame at `offset` says that its record ends, nil if it is no frame.
  private static func end(at offset: Int, in file: [UInt8]) -> UInt64? {
    let start = offset + frameSize
    guard start <= file.count,
      number(at: start - 4, in: file) == Checksum.of(file[offset..<start - 4])
    else { return nil }
    let length: UInt32 = number(at: offset, in: file)
    return UInt64(start) + UInt64(length)
  }

  private static func number<Number: FixedWidthInteger & UnsignedInteger>(
    at offset: Int, in file: [UInt8]
  ) -> Number {
    (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(file[offset + $1]) << Number(8 * $1) }
  }
}

/// CRC-32C, the checksum of iSCSI, ext4 and many log files. It finds each error of one byte.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0x82f6_3b78 ^ value >> 1 : value >> 1
    }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBufferPointer { bytes in
        var value = UInt32.max
        for byte in bytes {
          value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
        }
        return ~value
      }
    }
  }
}
