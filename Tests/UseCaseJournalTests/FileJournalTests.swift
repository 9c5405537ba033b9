import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

@Suite(.mustEnd)
struct FileJournalTests {
  private static let records: [[UInt8]] = [
    Array("first".utf8), [], [0], Array(repeating: 0xff, count: 300), Array("last".utf8),
  ]

  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test(arguments: [FileJournal.Durability.process, .power])
  func `what was appended is there for the next one`(durability: FileJournal.Durability)
    async throws
  {
    let journal = try FileJournal(at: folder.file, durability: durability)
    #expect(try await journal.read() == [])
    for record in Self.records { try await journal.append(record) }
    #expect(try await journal.read() == Self.records)
    await journal.close()
    #expect(try await folder.read() == Self.records)
  }

  @Test func `a record can be appended to a file that was not read`() async throws {
    _ = try await folder.fill(Self.records)
    let journal = try FileJournal(at: folder.file)
    try await journal.append([7])
    #expect(try await journal.read() == Self.records + [[7]])
  }

  @Test(.holds("Files"))
  func `every prefix of the appended records is a shorter journal, which goes on`()
    async throws
  {
    let offsets = try await folder.fill(Self.records)
    let bytes = try folder.bytes
    for length in offsets[0]...bytes.count {
      try folder.write(Array(bytes[..<length]))
      let whole = Self.records.prefix(max(0, offsets.count { $0 <= length } - 1))
      let journal = try FileJournal(at: folder.file)
      #expect(try await journal.read() == Array(whole), "\(length) bytes")
      try await journal.append([7])
      await journal.close()
      #expect(try await folder.read() == whole + [[7]], "\(length) bytes")
    }
  }

  @Test(.holds("Files"))
  func `every flipped byte is an error that names the place, or a torn tail`() async throws {
    let offsets = try await folder.fill(Self.records)
    let bytes = try folder.bytes
    for index in bytes.indices {
      for bit in [0, 5] {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        try folder.write(flipped)
        let reason = await reason { try await folder.read() }
        let isTail = index >= offsets[offsets.count - 2]
        switch reason {
        case nil:
          #expect(isTail, "byte \(index)")
          #expect(try await folder.read() == Self.records.dropLast())
        case .damaged(let offset):
          #expect(!isTail)
          #expect(offset == (offsets.last { $0 <= index } ?? 8), "byte \(index)")
          #expect(try folder.bytes == flipped)
        case .foreign:
          #expect(index < 8)
          #expect(try folder.bytes == flipped)
        default: Issue.record("byte \(index): \(String(describing: reason))")
        }
      }
    }
  }

  /// Writes a file of these records anew, appends one, and returns the length of the whole part.
  private func rewrite() async throws -> (whole: Int, bytes: [UInt8]) {
    let journal = try FileJournal(at: folder.file)
    try await journal.replace(with: Self.records)
    let whole = try folder.bytes.count
    try await journal.append([6])
    await journal.close()
    return (whole, try folder.bytes)
  }

  @Test(.holds("Files"))
  func `a copy of a file that stopped half-way is refused and left as it is`() async throws {
    let (whole, bytes) = try await rewrite()
    for length in 0..<whole {
      try folder.write(Array(bytes[..<length]))
      try setPermissions(0o644, of: folder.file)
      let expected = HistoryJournalError.Reason.damaged(offset: length)
      #expect(await reason { try FileJournal(at: folder.file) } == expected)
      #expect(try folder.bytes == Array(bytes[..<length]))
      #expect(try permissions(of: folder.file) == 0o644)
    }
  }

  @Test(.holds("Files"))
  func `damage and a missing end are refused`() async throws {
    let (whole, bytes) = try await rewrite()
    for index in bytes.indices.dropLast() {
      var cut = bytes.dropLast()
      cut[index] ^= 1
      try folder.write(Array(cut))
      if index < whole {
        #expect(await reason { try await folder.read() } != nil, "byte \(index)")
        #expect(try folder.bytes == Array(cut))
      } else {
        #expect(try await folder.read() == Self.records, "byte \(index)")
      }
    }
  }

  @Test func `a record appended to a file that was written anew can be torn`() async throws {
    let (whole, bytes) = try await rewrite()
    for length in whole..<bytes.count {
      try folder.write(Array(bytes[..<length]))
      #expect(try await folder.read() == Self.records)
      let journal = try FileJournal(at: folder.file)
      try await journal.append([7])
      await journal.close()
      #expect(try await folder.read() == Self.records + [[7]], "\(length) bytes")
    }
  }

  @Test func `a header that says nonsense with the right checksum is refused`() async throws {
    _ = try await folder.fill(Self.records)
    let bytes = try folder.bytes
    for whole in [0, 23, 25, UInt64(bytes.count) + 1, 1 << 31, 1 << 32, 1 << 63, .max] {
      let start = bytes[..<12] + (0..<8).map { UInt8(truncatingIfNeeded: whole >> (8 * $0)) }
      let file = start + UseCaseJournalTests.bytes(of: crc32c(Array(start))) + bytes[24...]
      try folder.write(Array(file))
      guard case .damaged = await reason({ try await folder.read() }) else {
        Issue.record("\(whole)")
        continue
      }
      #expect(try folder.bytes == Array(file))
    }
  }

  @Test func `zeros behind the last record are a torn tail`() async throws {
    _ = try await folder.fill(Self.records)
    try folder.write(try folder.bytes + Array(repeating: 0, count: 5000))
    #expect(try await folder.read() == Self.records)
  }

  @Test func `random bytes never trap`() async throws {
    var random = SystemRandomNumberGenerator()
    _ = try await folder.fill([])
    let header = try folder.bytes
    for count in 0..<300 {
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      try folder.write(count.isMultiple(of: 2) ? noise : header + noise)
      _ = await reason { try await folder.read() }
    }
  }

  @Test func `a length beyond the file takes no memory`() async throws {
    _ = try await folder.fill([[1]])
    let start = try folder.bytes
    // A frame with the right checksums that announces four gigabytes.
    let frame: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]
    try folder.write(start + frame + bytes(of: crc32c(frame)))
    #expect(try await folder.read() == [[1]])
  }

  @Test func `the checksum is CRC-32C`() async throws {
    #expect(crc32c(Array("123456789".utf8)) == 0xe306_9283)
    _ = try await folder.fill([Array("123456789".utf8)])
    let frame = try folder.bytes.dropFirst(24)
    #expect(Array(frame.dropFirst(4).prefix(4)) == bytes(of: 0xe306_9283))
  }

  @Test(.holds("Whose file"))
  func `a file of another format or version is refused and left as it is`() async throws {
    _ = try await folder.fill([])
    var newer = Array(try folder.bytes.prefix(20))
    newer[8] = 2
    newer += bytes(of: crc32c(newer))
    let letter = Array("a letter to somebody who is far away".utf8)
    for file in [letter, [0x41], newer, newer + [1, 2, 3]] {
      try folder.write(file)
      try setPermissions(0o644, of: folder.file)
      #expect(await reason { try FileJournal(at: folder.file) } == .foreign)
      #expect(try folder.bytes == file)
      #expect(try permissions(of: folder.file) == 0o644)
    }
  }

  @Test(.holds("Whose file"))
  func `a file is in use until it is closed`() async throws {
    let first = try FileJournal(at: folder.file)
    _ = try await first.read()
    try await first.append([1])
    #expect(await reason { try FileJournal(at: folder.file) } == .inUse)
    try await first.replace(with: [[2]])
    #expect(await reason { try FileJournal(at: folder.file) } == .inUse)
    await first.close()
    #expect(try await folder.read() == [[2]])
    #expect(await reason { try await first.append([3]) } == .closed)
    #expect(await reason { try await first.read() } == .closed)
    #expect(await reason { try await first.replace(with: []) } == .closed)
    await first.close()
  }

  @Test func `a journal that goes away gives its file back`() async throws {
    _ = try FileJournal(at: folder.file)
    _ = try FileJournal(at: folder.file)
  }

  @Test(.holds("Whose file"))
  func `only the owner can read the file`() async throws {
    _ = try await folder.fill([])
    try setPermissions(0o644, of: folder.file)
    let journal = try FileJournal(at: folder.file)
    #expect(try permissions(of: folder.file) == 0o600)
    try await journal.append([1])
    try await journal.replace(with: [[1]])
    #expect(try permissions(of: folder.file) == 0o600)
  }

  @Test func `replacing leaves the new records and no other file`() async throws {
    _ = try await folder.fill(Self.records)
    let journal = try FileJournal(at: folder.file)
    try await journal.replace(with: [[1], [2]])
    try await journal.append([3])
    await journal.close()
    #expect(try await folder.read() == [[1], [2], [3]])
    #expect(try folder.names == ["undo.journal"])
  }

  @Test func `a journal of some megabytes is written anew in pieces`() async throws {
    let records = (1...4).map { [UInt8](repeating: $0, count: 700_000) }
    let journal = try FileJournal(at: folder.file)
    try await journal.replace(with: records)
    try await journal.append([5])
    await journal.close()
    #expect(try await folder.read() == records + [[5]])
  }

  @Test(.holds("Files"))
  func `a torn record that has a whole one in it is torn all the same`() async throws {
    let inner = JournalFormat.frame([1, 2, 3])
    _ = try await folder.fill([[1], inner + [UInt8](repeating: 0, count: 40)])
    try folder.write(Array(try folder.bytes.dropLast(3)))
    #expect(try await folder.read() == [[1]])
  }

  @Test(.holds("Files"))
  func `a torn record is gone before the next one comes`() async throws {
    let offsets = try await folder.fill([[1], [UInt8](repeating: 2, count: 90)])
    try folder.write(Array(try folder.bytes.dropLast(3)))
    _ = try await folder.read()
    #expect(try folder.bytes.count == offsets[1])
  }

  @Test func `replacing through a link replaces the file, and the link stays`() async throws {
    _ = try await folder.fill(Self.records)
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file)
    let journal = try FileJournal(at: link)
    try await journal.replace(with: [[1]])
    await journal.close()
    #expect(try await folder.read() == [[1]])
    let again = try FileJournal(at: link)
    #expect(try await again.read() == [[1]])
    await again.close()
  }

  @Test func `a damaged file is not replaced`() async throws {
    _ = try await folder.fill(Self.records)
    var bytes = try folder.bytes
    bytes[28] ^= 1
    try folder.write(bytes)
    let journal = try FileJournal(at: folder.file)
    #expect(await reason { try await journal.replace(with: []) } == .damaged(offset: 24))
    #expect(await reason { try await journal.append([]) } == .damaged(offset: 24))
    #expect(try folder.bytes == bytes)
  }

  @Test func `without its folder a journal is an error in words`() async throws {
    let nowhere = folder.url.appending(path: "nowhere/undo.journal")
    let error = try #require(throws: HistoryJournalError.self) { try FileJournal(at: nowhere) }
    #expect(error.reason == .cannotRead)
    #expect(error.journal == nowhere.path)
    #expect("\(error)".hasPrefix("It is impossible to read the journal \(nowhere.path). ("))
  }
}

/// The checksum without a table.
func crc32c(_ bytes: [UInt8]) -> UInt32 {
  ~bytes.reduce(UInt32.max) { value, byte in
    (0..<8).reduce(value ^ UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0x82f6_3b78 ^ value >> 1 : value >> 1
    }
  }
}

func bytes(of number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

func permissions(of file: URL) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
}

func setPermissions(_ permissions: Int, of file: URL) throws {
  try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
}
