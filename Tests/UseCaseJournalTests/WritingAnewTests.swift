import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

/// The journal writes its file anew while the writes go on.
@Suite(.mustEnd)
struct WritingAnewTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private static func row(_ number: Int, _ size: Int = 1_000) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
  }

  @Test(.holds("Size"), arguments: [FileJournal.Durability.process, .power])
  func `a file is as large as its rows, however many changes there were`(
    durability: FileJournal.Durability
  ) async throws {
    let journal = try FileJournal(at: folder.file, durability: durability)
    var expected = HistoryRows()
    for version in 0..<2_000 {
      let change: Rows = [
        Int64(version % 50): Self.row(version),
        100 + Int64(version % 60): version.isMultiple(of: 3) ? nil : Self.row(version, 10),
      ]
      try await journal.write(change, version)
      expected.version += 1
      for (key, bytes) in change { expected.rows[key] = bytes }
      if version.isMultiple(of: 500) { #expect(try await journal.read() == expected) }
    }
    await journal.close()
    #expect(try await folder.read() == expected)
    #expect(try folder.names == ["undo.journal"])
    let live = expected.rows.values.reduce(0) { $0 + $1.count + JournalFormat.rowHeaderSize }
    // If it was closed while it was written anew, the next write goes on with that.
    let (next, before) = (try FileJournal(at: folder.file), folder.number())
    try await next.write([:], 2_000)
    if try folder.bytes.count > 2 * live { while folder.number() == before { await Task.yield() } }
    #expect(try folder.bytes.count <= 2 * live)
  }

  @Test(.holds("Size"))
  func `a file of 64 kilobytes is left, and a longer one of live rows too`() async throws {
    for keys in [1, 300] {
      let folder = try Folder()
      try await folder.fill([])
      let before = folder.number()
      let journal = try FileJournal(at: folder.file)
      for version in 0..<max(60, keys) {
        try await journal.write([Int64(version % keys): Self.row(version)], version)
      }
      await journal.close()
      #expect(folder.number() == before)
    }
  }

  @Test(.holds("Size"))
  func `rows that go leave an empty file`() async throws {
    let journal = try FileJournal(at: folder.file)
    for version in 0..<200 { try await journal.write([Int64(version): Self.row(version)], version) }
    let gone = (0..<200).map { HistoryChange.Row(key: $0, bytes: nil) }
    let before = folder.number()
    try await journal.write(HistoryChange(version: 200, rows: gone))
    while folder.number() == before { await Task.yield() }
    await journal.close()
    #expect(try folder.bytes.count == JournalFormat.headerSize + JournalFormat.rowHeaderSize)
    #expect(try await folder.read() == HistoryRows(version: 201))
  }

  @Test(.holds("Files"))
  func `what was written anew is whole, or refused`() async throws {
    try await folder.fillUntilWrittenAnew()
    let bytes = try folder.bytes
    let whole = bytes[12..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
    #expect(whole > 1_000)
    for length in stride(from: 0, to: whole, by: 37) {
      try folder.write(Array(bytes[..<length]))
      let reason = await reason { try FileJournal(at: folder.file) }
      #expect(reason == .damaged(offset: length))
      #expect(try folder.bytes.count == length)
    }
    try folder.write(Array(bytes[..<whole]))
    #expect(try await folder.read().rows == [1: Self.row(2)])
  }

  @Test func `a journal that is moved while its file is written anew replaces nobody else's`()
    async throws
  {
    var refused = 0
    for round in 1...20 {
      let journal = try FileJournal(at: folder.file)
      var version = Int(try await journal.read().version)
      let moved = folder.url.appending(path: "moved \(round)")
      let last = version + 60 + round
      while version < last {
        try await journal.write([1: Self.row(round)], version)
        version += 1
      }
      try FileManager.default.moveItem(at: folder.file, to: moved)
      try Data("mine".utf8).write(to: folder.file)
      // No call of the system looks at a file and replaces it at once, so now and then the new one
      // takes its place just behind the move.
      if await reason({ try await journal.write([1: [1]], version) }) == .moved {
        refused += 1
        #expect(try folder.bytes == Array("mine".utf8))
      }
      await journal.close()
      try FileManager.default.removeItem(at: folder.file)
      let found = try FileJournal(at: moved)
      let expected = HistoryRows(version: Int64(version), rows: [1: Self.row(round)])
      #expect(try await found.read() == expected)
      await found.close()
    }
    #expect(refused > 10)
    #expect(try folder.names.allSatisfy { $0.hasPrefix("moved") })
  }

  @Test func `a file that is shortened while it is written anew is not put together wrongly`()
    async throws
  {
    var others = 0
    for round in 0..<30 {
      let journal = try FileJournal(at: folder.file)
      var version = Int(try await journal.read().version)
      let start = try folder.bytes.count
      for number in 0..<80 {
        try await journal.write([Int64(number % 7): Self.row(number)], version)
        version += 1
        if number == 66 + round % 5, try folder.bytes.count > start {
          #expect(truncate(folder.file.path, off_t(try folder.bytes.count - 1_500)) == 0)
          guard let rows = try? await journal.read() else { break }
          others += rows.version == version ? 0 : 1
          version = Int(rows.version)
        }
      }
      let rows = await Result { try await journal.read() }
      await journal.close()
      // Damaged or not, the next one finds the same.
      let again = await Result { try await folder.read() }
      #expect((try? rows.get()) == (try? again.get()))
      if (try? again.get()) == nil { try FileManager.default.removeItem(at: folder.file) }
    }
    #expect(others > 0)
  }

  @Test(.holds("Files"))
  func `closing ends what is being written anew, and leaves no other file`() async throws {
    for round in 0..<20 {
      let journal = try FileJournal(at: folder.file)
      var version = Int(try await journal.read().version)
      for _ in 0..<70 + round {
        try await journal.write([1: Self.row(round)], version)
        version += 1
      }
      await journal.close()
      #expect(try folder.names == ["undo.journal"])
      #expect(
        try await folder.read() == HistoryRows(version: Int64(version), rows: [1: Self.row(round)]))
    }
  }

  #if os(Linux) || os(macOS)
    /// A child writes changes of which each says what the rows are after it, and is killed.
    @Test(.holds("Kills"))
    func `after a kill at any moment all is there that was answered, and nothing half`()
      async throws
    {
      var random = SystemRandomNumberGenerator()
      var version: Int64 = 0
      let answered = folder.url.appending(path: "answered")
      for round in 1...KillTests.kills {
        let (delay, isSynced) = (UInt32.random(in: 0...20_000, using: &random), Bool.random())
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [
            file = folder.file as URL, answered = answered as URL, delay = delay as UInt32,
            isSynced = isSynced as Bool
          ] in
          let journal = try FileJournal(at: file, durability: isSynced ? .power : .process)
          var version = try await journal.read().version
          let descriptor = open(answered.path, O_WRONLY | O_CREAT, 0o600)
          Thread {
            usleep(delay)
            kill(getpid(), SIGKILL)
          }.start()
          while true {
            try await journal.write(KillTests.change(version))
            version += 1
            pwrite(descriptor, &version, 8, 0)
          }
        }
        let rows = try await folder.read()
        let last = try? Data(contentsOf: answered).reversed().reduce(0) { $0 << 8 | Int64($1) }
        #expect(rows.version >= max(version, last ?? 0), "round \(round)")
        #expect(rows.rows == KillTests.rows(rows.version), "round \(round)")
        version = rows.version
      }
      #expect(version > 0)
      #expect(try folder.names == ["answered", "undo.journal"])
    }
  #endif
}

/// Changes whose sum is known.
///
/// `JOURNAL_KILLS=1000 swift test` kills more of them.
enum KillTests {
  static let kills =
    ProcessInfo.processInfo.environment["JOURNAL_KILLS"].flatMap { Int($0) } ?? 20

  /// Each version writes two rows of twenty, and takes another one away.
  static func change(_ version: Int64) -> HistoryChange {
    let content = bytes(of: version) + [UInt8](repeating: 7, count: Int(version % 5) * 300)
    return HistoryChange(
      version: version,
      rows: [
        .init(key: version % 20, bytes: content), .init(key: 20 + version % 20, bytes: content),
        .init(key: (version + 7) % 20, bytes: nil),
      ])
  }

  static func rows(_ version: Int64) -> [Int64: [UInt8]] {
    var rows: [Int64: [UInt8]] = [:]
    for version in max(0, version - 40)..<version {
      for row in change(version).rows { rows[row.key] = row.bytes }
    }
    return rows
  }
}
