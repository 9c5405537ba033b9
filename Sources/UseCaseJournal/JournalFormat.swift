/// The bytes of a journal file: a header, then a frame for each record.
///
///     89 "UCJ" 0d 0a 1a 0a   version   checksum of both
///     length   checksum of the record   checksum of both numbers   the record
///     …
///
/// Numbers have four bytes, the lowest first. The length has a checksum of its own, so that a wrong
/// one is not mistaken for a record that was cut off. A file that was written anew has a seal
/// behind its records: they were synced before anybody could read them, so that none can be torn.
enum JournalFormat {
  static let header: [UInt8] = {
    let start = magic + bytes(of: 1)
    return start + bytes(of: Checksum.of(start[...]))
  }()

  /// A frame without a record, with a checksum that no record without bytes has.
  static let seal: [UInt8] = {
    let start = bytes(of: 0) + bytes(of: .max)
    return start + bytes(of: Checksum.of(start[...]))
  }()

  private static let magic: [UInt8] = [0x89] + Array("UCJ\r\n\u{1a}\n".utf8)
  private static let frameSize = 12

  /// The longest record that a frame can hold.
  static let longest = Int(UInt32.max)

  /// Returns the record with its frame.
  static func frame(_ record: [UInt8]) -> [UInt8] {
    let start = bytes(of: UInt32(record.count)) + bytes(of: Checksum.of(record[...]))
    return start + bytes(of: Checksum.of(start[...])) + record
  }

  enum Content: Equatable {
    /// The whole records, and where the file is to be cut: behind the last of them.
    case records([Range<Int>], end: Int)
    /// Nothing, or the first bytes of a header: nothing was ever appended.
    case nothing
    /// Something is wrong here, and whole records follow.
    case damaged(at: Int)
    /// Another format, or another version.
    case foreign
  }

  static func content(of file: [UInt8]) -> Content {
    guard file.count >= header.count else {
      return header.starts(with: file) ? .nothing : .foreign
    }
    guard file.starts(with: magic) else { return .foreign }
    let (checked, end) = (header.count - 4, header.count)
    guard number(at: checked, in: file) == Checksum.of(file[..<checked]) else {
      return .damaged(at: magic.count)
    }
    return file.starts(with: header) ? records(from: end, in: file) : .foreign
  }

  private static func records(from start: Int, in file: [UInt8]) -> Content {
    var (records, offset) = ([Range<Int>](), start)
    while offset < file.count {
      if file[offset...].starts(with: seal) {
        offset += seal.count
        continue
      }
      guard let record = record(at: offset, in: file), record.upperBound <= file.count,
        number(at: offset + 4, in: file) == Checksum.of(file[record])
      else {
        return isFollowed(offset, in: file)
          ? .damaged(at: offset) : .records(records, end: offset)
      }
      records.append(record)
      offset = record.upperBound
    }
    return .records(records, end: offset)
  }

  /// Returns where the frame at `offset` says that its record is, nil if it is no frame.
  private static func record(at offset: Int, in file: [UInt8]) -> Range<Int>? {
    let start = offset + frameSize
    guard start <= file.count,
      number(at: start - 4, in: file) == Checksum.of(file[offset..<start - 4])
    else { return nil }
    return start..<start + Int(number(at: offset, in: file))
  }

  /// Whether another frame begins behind the bad one. If not, the bad one was being appended when
  /// the process or the power went away.
  private static func isFollowed(_ offset: Int, in file: [UInt8]) -> Bool {
    if let record = record(at: offset, in: file), record.upperBound >= file.count { return false }
    return (offset + 1..<max(offset + 1, file.count - frameSize + 1)).contains { next in
      record(at: next, in: file).map { $0.upperBound <= file.count } ?? false
    }
  }

  private static func bytes(of number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func number(at offset: Int, in file: [UInt8]) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(file[offset + $1]) << (8 * UInt32($1)) }
  }
}
