import Foundation
public import UseCaseHistory
import UseCaseJournal

/// A folder for one test, which goes with it.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var file: URL { url.appending(path: "undo.journal") }
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: file)) }
  }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: file) }

  /// Opens the file, reads it and closes it again.
  func read() async throws -> HistoryRows {
    let journal = try FileJournal(at: file)
    let rows = await Result { try await journal.read() }
    await journal.close()
    return try rows.get()
  }

  /// Makes a file of these changes, and returns where each begins and where the last ends.
  @discardableResult
  func fill(_ changes: [Rows]) async throws -> [Int] {
    let journal = try FileJournal(at: file)
    var offsets = [try bytes.count]
    for (version, rows) in changes.enumerated() {
      try await journal.write(rows, version)
      offsets.append(try bytes.count)
    }
    await journal.close()
    return offsets
  }
}

extension Folder {
  /// The number of the file at the path.
  func number() -> ino_t {
    var status = stat()
    return stat(file.path, &status) == 0 ? status.st_ino : 0
  }

  /// Writes the same row again and again until the journal has another file, and closes it.
  func fillUntilWrittenAnew() async throws {
    let journal = try FileJournal(at: file)
    var version = Int(try await journal.read().version)
    let before = number()
    while number() == before {
      try await journal.write([1: [UInt8](repeating: 2, count: 1_000)], version)
      version += 1
    }
    await journal.close()
  }
}

/// The rows of a change. Rows that go are nil.
typealias Rows = [Int64: [UInt8]?]

extension FileJournal {
  func write(_ rows: Rows, _ version: Int) async throws {
    let rows = rows.sorted { $0.key < $1.key }
    try await write(
      HistoryChange(
        version: Int64(version), rows: rows.map { HistoryChange.Row(key: $0, bytes: $1) }))
  }
}

extension HistoryRows: Equatable {
  /// Returns whether the versions and the rows are the same.
  public static func == (one: HistoryRows, other: HistoryRows) -> Bool {
    one.version == other.version && one.rows == other.rows
  }

  /// The rows after these changes.
  init(after changes: some Sequence<Rows>) {
    self.init()
    for change in changes {
      version += 1
      for (key, bytes) in change { rows[key] = bytes }
    }
  }
}

/// The reason of the error that `body` throws, if it is one of a journal.
func reason(_ body: () async throws -> some Any) async -> HistoryJournalError.Reason? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? HistoryJournalError)?.reason
  }
}

extension Result where Failure == any Error {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// The checksum without a table.
func crc32c(_ bytes: [UInt8]) -> UInt32 {
  var value = UInt32.max
  for byte in bytes {
    value ^= UInt32(byte)
    for _ in 0..<8 { value = value & 1 == 1 ? 0x82f6_3b78 ^ (value >> 1) : value >> 1 }
  }
  return ~value
}

/// The bytes of a number, the lowest first.
func bytes(of number: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

func permissions(of file: URL) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
}

func setPermissions(_ permissions: Int, of file: URL) throws {
  try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
}
