import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

@Suite(.mustEnd)
struct FileJournalTests {
  private static let changes: [Rows] = [
    [0: Array("first".utf8), 7: []],
    [:],
    [7: [0], .max: Array(repeating: 0xff, count: 300)],
    [0: nil, 8: nil],
    [1: Array("last".utf8), 0: [1, 2]],
  ]

  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  // MARK: Rows

  @Test(arguments: [FileJournal.Durability.process, .power])
  func `what was written is there for the next one`(durability: FileJournal.Durability)
    async throws
  {
    let journal = try FileJournal(at: folder.file, durability: durability)
    #expect(try await journal.read() == HistoryRows())
    for (version, change) in Self.changes.enumerated() {
      try await journal.write(change, version)
      let expected = HistoryRows(after: Self.changes[...version])
      #expect(try await journal.read() == expected)
    }
    await journal.close()
    #expect(try await folder.read() == HistoryRows(after: Self.changes))
  }

  @Test func `a journal that was not read can be written`() async throws {
    try await folder.fill(Self.changes)
    let journal = try FileJournal(at: folder.file)
    try await journal.write([3: [7]], 5)
    #expect(try await journal.read() == HistoryRows(after: Self.changes + [[3: [7]]]))
  }

  @Test(.holds("Two writers"))
  func `a change of another version is stale, and changes nothing`() async throws {
    try await folder.fill(Self.changes)
    let bytes = try folder.bytes
    let journal = try FileJournal(at: folder.file)
    for version in [0, 4, 6, Int(Int32.max)] {
      #expect(await reason { try await journal.write([1: [1]], version) } == .stale)
    }
    #expect(try folder.bytes == bytes)
    try await journal.write([1: [1]], 5)
    #expect(await reason { try await journal.write([1: [1]], 5) } == .stale)
    #expect(try await journal.read().version == 6)
  }

  @Test(.holds("Two writers"))
  func `of many writers of one version, one succeeds`() async throws {
    let journal = try FileJournal(at: folder.file)
    for version in 0..<20 {
      let answers = await withTaskGroup { group in
        for writer in 0..<8 {
          let row = [UInt8](repeating: UInt8(writer), count: writer.isMultiple(of: 2) ? 1 : 70_000)
          group.addTask { await reason { try await journal.write([1: row], version) } }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count { $0 == nil } == 1)
      #expect(answers.count { $0 == .stale } == 7)
    }
    #expect(try await journal.read().version == 20)
  }

  @Test func `rows of some megabytes are written and read`() async throws {
    let long = (1...4).map { [UInt8](repeating: $0, count: 700_000 * Int($0)) }
    let changes: [Rows] = [[0: long[0], 1: long[1]], [2: [5]], [3: long[3], 0: long[2]]]
    try await folder.fill(changes)
    #expect(try await folder.read() == HistoryRows(after: changes))
  }

  @Test func `a row that is too long is refused in words, and nothing is written`() async throws {
    let journal = try FileJournal(at: folder.file)
    let before = try folder.bytes
    let long = [UInt8](repeating: 0, count: JournalFormat.longestRow + 1)
    #expect(await reason { try await journal.write([1: [1], 2: long], 0) } == .cannotWrite)
    #expect(try folder.bytes == before)
    try await journal.write([1: [1]], 0)
  }

  // MARK: Torn and damaged files

  @Test(.holds("Files"))
  func `every prefix is a journal of fewer changes, which goes on`() async throws {
    let offsets = try await folder.fill(Self.changes)
    let bytes = try folder.bytes
    for length in offsets[0]...bytes.count {
      try folder.write(Array(bytes[..<length]))
      let version = offsets.count { $0 <= length } - 1
      let whole = Self.changes[..<version]
      let journal = try FileJournal(at: folder.file)
      #expect(try await journal.read() == HistoryRows(after: whole), "\(length) bytes")
      #expect(try folder.bytes.count == length)
      try await journal.write([9: [7]], version)
      await journal.close()
      #expect(try await folder.read() == HistoryRows(after: whole + [[9: [7]]]), "\(length) bytes")
    }
  }

  @Test(.holds("Files"))
  func `every flipped byte is an error that names the place, or a torn tail`() async throws {
    let offsets = try await folder.fill(Self.changes)
    let bytes = try folder.bytes
    for index in bytes.indices {
      for bit in [0, 5] {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        try folder.write(flipped)
        let isTail = index >= offsets[offsets.count - 2]
        switch await reason({ try await folder.read() }) {
        case nil:
          #expect(isTail, "byte \(index)")
          #expect(try await folder.read() == HistoryRows(after: Self.changes.dropLast()))
        case .damaged(let offset):
          #expect(!isTail)
          let change = offsets.last { $0 <= index }
          if let change {
            #expect((change...index).contains(offset), "byte \(index)")
          } else {
            #expect([8, 24].contains(offset), "byte \(index)")
          }
        case .foreign: #expect(index < 8)
        case let reason: Issue.record("byte \(index): \(String(describing: reason))")
        }
        #expect(try folder.bytes == flipped)
      }
    }
  }

  @Test func `a damaged file is not written`() async throws {
    let offsets = try await folder.fill(Self.changes)
    var bytes = try folder.bytes
    bytes[offsets[1] + 3] ^= 1
    try folder.write(bytes)
    let journal = try FileJournal(at: folder.file)
    let damaged = HistoryJournalError.Reason.damaged(offset: offsets[1])
    for version in 0...5 {
      #expect(await reason { try await journal.write([1: [1]], version) } == damaged)
    }
    #expect(await reason { try await journal.read() } == damaged)
    #expect(try folder.bytes == bytes)
  }

  @Test(.holds("Whose file"))
  func `a file of another format or version is refused in words and left as it is`() async throws {
    try await folder.fill([])
    var newer = Array(try folder.bytes.prefix(20))
    newer[8] = 3
    newer += bytes(of: crc32c(newer))
    let former = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Golden/1/executions.journal")
    let letter = Array("a letter to somebody who is far away".utf8)
    for file in [letter, [0x41], newer, newer + [1, 2, 3], Array(try Data(contentsOf: former))] {
      try folder.write(file)
      try setPermissions(0o644, of: folder.file)
      let error = #expect(throws: HistoryJournalError.self) { try FileJournal(at: folder.file) }
      #expect(error?.reason == .foreign)
      #expect(
        error?.description == """
          The file \(folder.file.path) is not a journal, or was written by another version of the \
          app. It was left unchanged.
          """)
      #expect(try folder.bytes == file)
      #expect(try permissions(of: folder.file) == 0o644)
    }
  }

  // MARK: While it is open

  @Test(.holds("Files"))
  func `a file that has become shorter is an error, and goes on when it is read again`()
    async throws
  {
    let offsets = try await folder.fill(Self.changes)
    let journal = try FileJournal(at: folder.file)
    _ = try await journal.read()
    let size = try folder.bytes.count
    for length in [size - 1, offsets[3], offsets[0], 20] {
      #expect(truncate(folder.file.path, off_t(length)) == 0)
      for _ in 1...2 {
        let reason = await reason { try await journal.write([1: [1]], 5) }
        #expect(reason == .damaged(offset: length))
      }
      #expect(try folder.bytes.count == length)
    }
    #expect(await reason { try await journal.read() } == .damaged(offset: 20))
    #expect(await reason { try await journal.write([1: [1]], 5) } == .damaged(offset: 20))
  }

  @Test(.holds("Whose file"))
  func `a file to which somebody else has written is left as it is, until it is read`()
    async throws
  {
    try await folder.fill(Self.changes)
    let journal = try FileJournal(at: folder.file)
    _ = try await journal.read()
    var change: [UInt8] = []
    JournalFormat.append((9, [9]), version: 6, isLast: true, to: &change)
    let handle = try FileHandle(forWritingTo: folder.file)
    try handle.seekToEnd()
    try handle.write(contentsOf: change)
    try handle.close()
    let bytes = try folder.bytes
    for _ in 1...2 {
      #expect(await reason { try await journal.write([1: [9]], 5) } == .stale)
    }
    #expect(try folder.bytes == bytes)
    #expect(try await journal.read() == HistoryRows(after: Self.changes + [[9: [9]]]))
    try await journal.write([1: [9]], 6)
    #expect(try await journal.read().version == 7)
  }

  @Test(.holds("Whose file"))
  func `a file is in use until it is closed`() async throws {
    let first = try FileJournal(at: folder.file)
    try await first.write([1: [1]], 0)
    #expect(await reason { try FileJournal(at: folder.file) } == .inUse)
    await first.close()
    #expect(try await folder.read() == HistoryRows(after: [[1: [1]]]))
    #expect(await reason { try await first.write([1: [2]], 1) } == .closed)
    #expect(await reason { try await first.read() } == .closed)
    await first.close()
  }

  @Test func `closing lets calls that have begun end, and later ones fail`() async throws {
    let journal = try FileJournal(at: folder.file, durability: .power)
    await withTaskGroup { group in
      for version in 0..<50 {
        group.addTask {
          let reason = await reason { try await journal.write([1: [2]], version) }
          #expect([nil, .closed, .stale].contains(reason))
        }
        if version == 25 { group.addTask { await journal.close() } }
      }
    }
    #expect(await reason { try await journal.read() } == .closed)
    _ = try await folder.read()
  }

  @Test func `a journal that goes away gives its file back`() async throws {
    _ = try FileJournal(at: folder.file)
    _ = try FileJournal(at: folder.file)
  }

  @Test(.holds("Whose file"))
  func `only the owner can read the file`() async throws {
    try await folder.fill([])
    try setPermissions(0o644, of: folder.file)
    let journal = try FileJournal(at: folder.file)
    #expect(try permissions(of: folder.file) == 0o600)
    try await journal.write([1: [1]], 0)
    #expect(try permissions(of: folder.file) == 0o600)
  }

  @Test func `to open and to read a journal at rest writes nothing`() async throws {
    try await folder.fill(Self.changes)
    func status() -> stat {
      var status = stat()
      #expect(stat(folder.file.path, &status) == 0)
      return status
    }
    let before = status()
    _ = try await folder.read()
    let after = status()
    #expect(before.st_ino == after.st_ino && before.st_size == after.st_size)
    #if os(Linux)
      #expect(before.st_ctim.tv_nsec == after.st_ctim.tv_nsec)
      #expect(before.st_ctim.tv_sec == after.st_ctim.tv_sec)
    #endif
  }

  @Test func `without its folder a journal is an error in words`() async throws {
    let nowhere = folder.url.appending(path: "nowhere/undo.journal")
    let error = try #require(throws: HistoryJournalError.self) { try FileJournal(at: nowhere) }
    #expect(error.reason == .cannotRead)
    #expect(error.journal == nowhere.path)
    #expect("\(error)".hasPrefix("It is impossible to read the journal \(nowhere.path). ("))
  }
}
