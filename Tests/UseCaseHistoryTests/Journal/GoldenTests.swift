import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseJournal

@testable import UseCaseHistory

/// Histories of each version of the format, in `Tests/Golden`. They have the entries that they had,
/// whatever the library is now, and the latest are written as they were, byte for byte.
///
/// `Tests/Golden/make` makes the set of a new version.
@Suite(.mustEnd)
struct GoldenTests {
  private typealias Row = HistoryRow<any HistoryStep>

  private static let latest = "2"
  private static let made = ProcessInfo.processInfo.environment["GOLDEN_SET"]

  private static func folder(_ set: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Golden").appending(path: set)
  }

  private struct Note: JournaledUseCase {
    static let journalName = "note"
    func main(_ text: String) async throws -> Int { text.count }
    func undo(_: String, _: Int) async throws {}
    func title(for text: String) -> String { text }
    func footprint(of text: String, _: Int) -> HistoryFootprint { .keys(text) }
  }

  // MARK: Sessions

  private static func leaf(
    _ id: UInt64, _ state: Row.State = .applied, _ marks: Row.Marks = [], in parent: UInt64 = 0,
    stamp: UInt64? = nil, name: String = "note", response: Int? = 7,
    for reason: HistoryDiscardReason = .cleared
  ) -> HistoryChange.Row {
    var row = Row(id: .init(number: id), title: "", step: nil)
    (row.state, row.marks, row.reason) = (state, marks, reason)
    (row.parent, row.stamp) = (.init(number: parent), stamp ?? id)
    // Every second one has a footprint.
    if id.isMultiple(of: 2) { row.footprint = .keys(id) }
    let text = Array("\"text \(id)\"".utf8)
    let pair = HistoryPair(
      name: name, title: text, request: text, response: response.map { Array("\($0)".utf8) })
    return HistoryChange.Row(key: Int64(id), bytes: row.bytes(pair, title: []))
  }

  private static func group(
    _ id: UInt64, _ state: Row.State = .applied, _ marks: Row.Marks = [], in parent: UInt64 = 0,
    stamp: UInt64? = nil, tries: UInt8 = 0
  ) -> HistoryChange.Row {
    var row = Row(group: .init(number: id), in: .init(number: parent), title: "")
    (row.state, row.marks, row.tries) = (state, marks.union(.group), tries)
    row.stamp = stamp ?? id
    let title = Array("\"group \(id)\"".utf8)
    return HistoryChange.Row(key: Int64(id), bytes: row.bytes(nil, title: title))
  }

  private static func head(
    limit: Int? = nil, saved: [UInt64]? = [], rest: UInt64 = 0, unknowns: UInt64 = 0,
    covered: UInt64 = 0
  ) -> HistoryChange.Row {
    var head = HistoryTable<any HistoryStep>.Head()
    head.limit = limit
    head.saved = saved.map { applied in
      applied.reduce(into: HistoryPlace.beginning) { $0 += .of(.init(number: $1)) }
    }
    head.rowless = RowlessEffects(sum: .init(sum: rest), unknowns: unknowns, covered: covered)
    return HistoryChange.Row(key: 0, bytes: HeadRow(head, newestID: 1_000).bytes)
  }

  private static let reasons: [HistoryDiscardReason] = [
    .truncated, .evicted, .cleared, .merged, .annulled, .obsolete, .forgotten,
  ]

  private static let sessions: [String: [HistoryChange.Row]] = [
    "executions, one undone, and saved": [
      head(saved: [1, 2]), leaf(1), leaf(2), leaf(3, .undone, stamp: 200), leaf(4, .undone),
    ],
    "a limit, and effects without a row": [
      head(limit: 3, saved: nil, rest: 1 << 63, unknowns: 300, covered: 2), leaf(2), leaf(3),
    ],
    "groups": [
      head(), group(1), leaf(2, in: 1), group(3, in: 1), leaf(4, in: 3), leaf(5, in: 1),
      group(6, .undone, stamp: 20), leaf(7, .undone, in: 6),
    ],
    "a group half undone": [
      head(), leaf(1), group(2), leaf(3, in: 2), leaf(4, .undone, in: 2),
    ],
    "an execution that ran": [head(), leaf(1), leaf(2, .executing, response: nil)],
    "an undo that ran": [head(), leaf(1), leaf(2, .undoing)],
    "a redo that ran": [head(), leaf(1), leaf(2, .redoing)],
    "in doubt": [
      head(), leaf(1, .executing, .inDoubt, response: nil), leaf(2, .applied, .inDoubt),
      leaf(3, .undone, .inDoubt),
    ],
    "a group that ran": [
      head(), group(1, .executing), leaf(2, in: 1), group(3, .executing, in: 1), leaf(4, in: 3),
      leaf(5, .executing, in: 3, response: nil),
    ],
    "a roll-back that ran": [
      head(), group(1, .executing, .incomplete), leaf(2, in: 1), leaf(3, .undoing, in: 1),
      leaf(4, .undone, in: 1),
    ],
    "an undo of a group that ran": [
      head(), group(1, .undoing), leaf(2, in: 1), leaf(3, .undone, in: 1),
    ],
    "a redo of a group that ran": [
      head(), group(1, .redoing), leaf(2, in: 1), leaf(3, .undone, in: 1),
    ],
    "interrupted": [
      head(), group(1, .applied, [.interrupted, .incomplete], tries: 2), leaf(2, in: 1),
      group(3, .applied, [.interrupted, .redo]), leaf(4, in: 3), leaf(5, .undone, in: 3), leaf(6),
    ],
    "unreadable": [
      head(), leaf(1), leaf(2, name: "from tomorrow"), leaf(3, response: nil),
      leaf(4, .executing, name: "from tomorrow", response: nil),
    ],
    "cleared while it ran": [
      head(), leaf(1, .undoing, .leavesLater, for: .cleared),
      leaf(2, .applied, .leavesLater, for: .forgotten),
    ],
    "leaving": [head()]
      + zip(1..., reasons).map { leaf($0, .leaving, name: "from tomorrow", for: $1) },
  ]

  // MARK: Words

  /// Opens a copy of a golden journal, and returns its history in words.
  private static func words(
    _ file: URL, _ interrupted: HistoryInterruption
  ) async throws -> String {
    let copy = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID())")
    try FileManager.default.copyItem(at: file, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let journal = try FileJournal(at: copy)
    let history = try await UseCaseHistory.open(
      journal, for: [Note()], interrupted: interrupted, limit: 3)
    await history.idle()
    let state = history.state
    let leaving = try await journal.read().rows.values.count { $0[0] == 5 }
    await journal.close()
    return
      (history.entries.map { words($0) } + [
        """
        \(interrupted): \(state.isClean ? "clean" : "not clean"), \(state.undoCount) to undo, \
        \(state.redoCount) to redo, \(leaving) leaving
        """
      ]).joined(separator: "\n") + "\n"
  }

  private static func words(_ entry: HistoryEntry, indent: String = "") -> String {
    let mark = entry.isApplied ? "applied" : "undone"
    let own = "\(indent)\(entry.id) “\(entry.title)” \(mark), \(entry.standing)"
    return ([own] + entry.children.map { words($0, indent: indent + "  ") }).joined(separator: "\n")
  }

  private static func words(_ file: URL) async throws -> String {
    try await words(file, .keep) + "\n" + (try await words(file, .compensate))
  }

  // MARK: Tests

  @Test(.holds("Format"), arguments: ["2"])
  func `the golden histories have the entries that they had`(set: String) async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder(set).path)
      .filter { $0.hasSuffix(".journal") }
    #expect(names.count == Self.sessions.count)
    for name in names {
      let file = Self.folder(set).appending(path: name)
      let words = try String(contentsOf: file.appendingPathExtension("txt"), encoding: .utf8)
      #expect(try await Self.words(file) == words, "\(set)/\(name)")
    }
  }

  @Test(.holds("Format"))
  func `the latest golden histories are written as they were`() async throws {
    for (name, rows) in Self.sessions {
      let file = Self.folder(Self.made ?? Self.latest).appending(path: "\(name).journal")
      let new = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID())")
      defer { try? FileManager.default.removeItem(at: new) }
      let journal = try FileJournal(at: new)
      try await journal.write(HistoryChange(version: 0, rows: rows))
      await journal.close()
      if Self.made != nil {
        try Data(contentsOf: new).write(to: file)
        try Data(try await Self.words(file).utf8).write(to: file.appendingPathExtension("txt"))
      }
      #expect(try Data(contentsOf: new) == Data(contentsOf: file), "\(name)")
    }
  }

  /// A history over rows of another format is not opened, whatever keeps them.
  @Test(.holds("Format"))
  func `rows of another format are refused in words`() async throws {
    for format in [0, 1, 3, 255] as [UInt8] {
      let disk = Disk(HistoryRows(version: 1, rows: [0: [format, 0, 0, 1, 0, 0, 0, 0]]))
      let error = await #expect(throws: HistoryJournalError.self) {
        try await UseCaseHistory.open(disk, for: [Note()])
      }
      #expect(error?.reason == .foreign)
      #expect(error?.description.contains("written by another version of the app") == true)
      #expect(disk.writes == 0)
    }
  }
}
