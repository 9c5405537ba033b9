import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

/// Files of each version of the format, in `Tests/Golden`. They have the rows that they had, whatever
/// the library is now, and the latest are written as they were, byte for byte.
///
/// `Tests/Golden/make` makes the set of a new version.
@Suite(.mustEnd)
struct GoldenFileTests {
  private static let latest = "2"
  private static let made = ProcessInfo.processInfo.environment["GOLDEN_SET"]

  private static func folder(_ set: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Golden").appending(path: set).appending(path: "files")
  }

  private static func words(_ rows: HistoryRows) -> String {
    let lines = rows.rows.sorted { $0.key < $1.key }.map { "\($0): \($1)\n" }
    return "version \(rows.version)\n" + lines.joined()
  }

  // MARK: Sessions

  private static let changes: [Rows] = [
    [0: [1, 2, 3], 1: [], 2: Array("a request".utf8)],
    [1: Array(repeating: 0xff, count: 300), 2: nil, .max: [7]],
    [:],
    [0: nil, 9: nil],
  ]

  private static let sessions: [String: @Sendable (Folder) async throws -> Void] = [
    "no rows": { try await $0.fill([]) },
    "rows, some that go, and none": { try await $0.fill(changes) },
    "a torn change": { folder in
      try await folder.fill(changes + [[1: [1], 5: [5, 6]]])
      try folder.write(folder.bytes.dropLast(1))
    },
    "written anew": { try await writeAnew($0, changes) },
    "written anew without rows": { try await writeAnew($0, [[1: [1]], [1: nil]]) },
    "written anew, and gone on": { folder in
      try await writeAnew(folder, changes)
      let journal = try FileJournal(at: folder.file)
      try await journal.write([2: [2]], 4)
      await journal.close()
    },
  ]

  /// The first changes are written anew, and the last one comes meanwhile.
  private static func writeAnew(_ folder: Folder, _ changes: [Rows]) async throws {
    let offsets = try await folder.fill(changes)
    let old = try JournalFile(opening: JournalPath(folder.file))
    defer { old.release() }
    var new = try NewJournalFile(beside: JournalPath(folder.file))
    try new.fill(from: old, upTo: Int64(offsets[changes.count - 1]))
    try new.catchUp(with: old, upTo: Int64(offsets[changes.count]))
    try new.seal()
    try new.takePlace()
    new.file.release()
  }

  // MARK: Tests

  @Test(.holds("Format"), arguments: ["2"])
  func `the golden files have the rows that they had`(set: String) async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder(set).path)
    #expect(names.count == 2 * Self.sessions.count)
    for name in names where name.hasSuffix(".journal") {
      let file = Self.folder(set).appending(path: name)
      let (folder, words) = (try Folder(), try Data(contentsOf: file.appendingPathExtension("txt")))
      try folder.write(Array(try Data(contentsOf: file)))
      let rows = try await folder.read()
      #expect(Self.words(rows) == String(decoding: words, as: UTF8.self), "\(set)/\(name)")
    }
  }

  @Test(.holds("Format"))
  func `the latest golden files are written as they were`() async throws {
    let set = Self.folder(Self.made ?? Self.latest)
    for (name, session) in Self.sessions {
      let (folder, file) = (try Folder(), set.appending(path: "\(name).journal"))
      try await session(folder)
      if Self.made == nil {
        #expect(try folder.bytes == Array(try Data(contentsOf: file)), "\(name)")
      } else {
        try FileManager.default.createDirectory(at: set, withIntermediateDirectories: true)
        try Data(folder.bytes).write(to: file)
        let words = Data(Self.words(try await folder.read()).utf8)
        try words.write(to: file.appendingPathExtension("txt"))
      }
    }
  }
}
