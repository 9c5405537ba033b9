import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Rows that no history has written. `Tests/Fuzz/rows` tries a million of them.
@Suite(.mustEnd)
struct HostileRowsTests {
  @Test(.holds("Damage"))
  func `rows of any kind are refused in words, or make a history that works`() async throws {
    var random = SeededGenerator(seed: 1)
    var real: [HistoryRows] = []
    for _ in 1...20 { real += try await HostileRows.written(&random) }
    var rows = HostileRows(random, real: real)
    var opened = 0
    for number in 0..<2_000 {
      let rows = rows.next()
      do {
        let isOpened = try await HostileSession.run(
          rows, number.isMultiple(of: 2) ? .keep : .compensate)
        opened += isOpened ? 1 : 0
      } catch {
        Issue.record("\(number): \(error)\n\(rows.version) \(rows.rows.sorted { $0.key < $1.key })")
        return
      }
    }
    // Both ways were taken.
    #expect((200..<1_800).contains(opened))
  }

  // MARK: Each check

  private static let group = UInt8(1)
  private static let inDoubt = UInt8(2)
  private static let interrupted = UInt8(4)
  private static let incomplete = UInt8(8)
  private static let leavesLater = UInt8(16)
  private static let keyed = UInt8(32)
  private static let redo = UInt8(64)
  private static let head: [UInt8] = [2, 0, 0, 1, 0, 0, 0, 0]

  /// A row in the words of the format.
  private struct Entry {
    var state = UInt8(1)
    var marks = UInt8(0)
    var parent = UInt64(0)
    var tries = UInt8(0)
    var stamp: UInt64?
    var name: [UInt8] = Array("note".utf8)
  }

  private static let (executing, applied, undoing, undone, redoing, leaving) =
    (UInt8(0), UInt8(1), UInt8(2), UInt8(3), UInt8(4), UInt8(5))

  /// Rows with the keys from 1 on, and their numbers as stamps.
  private static func rows(_ entries: [Entry]) -> HistoryRows {
    var rows: [Int64: [UInt8]] = [0: head]
    for (key, entry) in zip(Int64(1)..., entries) {
      var row = RowFields()
      (row.state, row.marks, row.parent) = (entry.state, entry.marks, entry.parent)
      (row.tries, row.stamp) = (entry.tries, entry.stamp ?? UInt64(key))
      row.rest = RowFields.title("t")
      if entry.marks & group == 0 {
        row.rest += [UInt8(entry.name.count)] + entry.name
        row.rest += [1, 0x31, entry.state == executing ? 0 : 1]
        row.rest += entry.state == executing ? [0] : [1, 0x31]
      }
      rows[key] = row.bytes
    }
    return HistoryRows(version: 1, rows: rows)
  }

  /// What is wrong, the rows, and the key of the wrong one.
  private static let wrong: [(fact: String, entries: [Entry], key: Int)] = [
    (
      "two parts have one stamp",
      [Entry(marks: group), Entry(parent: 1), Entry(parent: 1, stamp: 2)], 3
    ),
    ("a part has no group", [Entry(), Entry(parent: 1)], 2),
    (
      "a part comes before its group",
      [Entry(marks: group), Entry(marks: group, parent: 1, stamp: 9), Entry(parent: 2, stamp: 4)],
      3
    ),
    ("a group has no parts", [Entry(marks: group)], 1),
    (
      "a group in a group has no parts",
      [Entry(marks: group), Entry(marks: group, parent: 1), Entry(parent: 1)], 2
    ),
    (
      "a group in a group runs, and that around it does not",
      [Entry(marks: group), Entry(state: executing, marks: group, parent: 1), Entry(parent: 2)], 2
    ),
    (
      "a part runs in a group that has ended",
      [
        Entry(state: executing, marks: group), Entry(marks: group, parent: 1),
        Entry(state: executing, parent: 2),
      ], 3
    ),
    (
      "a group in a group is undone",
      [
        Entry(state: undone, marks: group), Entry(state: undone, marks: group, parent: 1),
        Entry(state: undone, parent: 2),
      ], 2
    ),
    ("a part runs and its group does not", [Entry(marks: group), Entry(state: 0, parent: 1)], 2),
    (
      "a part is redone in an undo",
      [Entry(state: undoing, marks: group), Entry(state: redoing, parent: 1)], 2
    ),
    ("a group is applied, and no part", [Entry(marks: group), Entry(state: undone, parent: 1)], 1),
    (
      "a group is undone, and a part is not",
      [Entry(state: undone, marks: group), Entry(parent: 1)], 1
    ),
    (
      "a part is applied behind one that is undone",
      [Entry(state: undoing, marks: group), Entry(state: undone, parent: 1), Entry(parent: 1)], 3
    ),
    (
      "two parts are undone at once",
      [
        Entry(state: undoing, marks: group), Entry(state: undoing, parent: 1),
        Entry(state: undoing, parent: 1),
      ], 3
    ),
    (
      "an older group is half undone",
      [Entry(marks: group), Entry(parent: 1), Entry(state: undone, parent: 1), Entry()], 1
    ),
    ("a group leaves", [Entry(state: leaving, marks: group)], 1),
    ("a group is in doubt", [Entry(marks: group | inDoubt), Entry(parent: 1)], 1),
    ("a group has a footprint", [Entry(marks: group | keyed), Entry(parent: 1)], 1),
    ("an execution is interrupted", [Entry(marks: interrupted)], 1),
    ("an execution is incomplete", [Entry(marks: incomplete)], 1),
    ("a group is incomplete, and ended", [Entry(marks: group | incomplete), Entry(parent: 1)], 1),
    (
      "an interrupted group is redone, and has no applied part",
      [Entry(state: redoing, marks: group | interrupted), Entry(state: undone, parent: 1)], 1
    ),
    (
      "a group is interrupted, and runs",
      [Entry(state: executing, marks: group | interrupted), Entry(parent: 1)], 1
    ),
    ("a redo is interrupted by nothing", [Entry(marks: group | redo), Entry(parent: 1)], 1),
    ("a part leaves later", [Entry(marks: group), Entry(marks: leavesLater, parent: 1)], 2),
    ("a part is interrupted", [Entry(marks: group), Entry(marks: interrupted, parent: 1)], 2),
    (
      "a part in doubt is no entry of its own",
      [Entry(state: executing, marks: group), Entry(state: executing, marks: inDoubt, parent: 1)], 2
    ),
    (
      "a recovery was tried three times",
      [Entry(marks: group | interrupted, tries: 3), Entry(parent: 1)], 1
    ),
    ("an execution was tried", [Entry(tries: 1)], 1),
    ("a name is no text", [Entry(name: [0xff])], 1),
    ("a stamp is too high", [Entry(stamp: 1 << 62 + 1)], 1),
    ("a row is its own parent", [Entry(marks: group, parent: 1)], 1),
  ]

  @Test(.holds("Damage"), arguments: wrong.indices)
  func `rows that contradict each other are refused`(index: Int) async {
    let (fact, entries, key) = Self.wrong[index]
    let journal = MemoryJournal(Self.rows(entries))
    let error = await #expect(throws: HistoryJournalError.self, "\(fact)") {
      try await UseCaseHistory.open(journal, for: [HostileNote()])
    }
    // Of two rows with one stamp, either is wrong.
    let keys = fact == "two parts have one stamp" ? [2, 3] : [key]
    #expect(keys.contains { error?.reason == .damaged(offset: $0) }, "\(fact)")
    #expect(journal.versions.isEmpty)
  }

  @Test(.holds("Damage"))
  func `rows with a version or a key below zero, and rows without a head, are refused`() async {
    let one = Self.rows([Entry()])
    var (headless, negative, key) = (one, one, one)
    headless.rows[0] = nil
    negative.version = -1
    key.rows[-1] = one.rows[1]
    for rows in [headless, negative, key, HistoryRows(version: -1)] {
      let error = await #expect(throws: HistoryJournalError.self) {
        try await UseCaseHistory.open(MemoryJournal(rows), for: [HostileNote()])
      }
      guard case .damaged? = error?.reason else {
        Issue.record("\(rows)")
        continue
      }
    }
  }

  @Test(.holds("Damage"))
  func `numbers at their ends open, and what would go over them fails in words`() async throws {
    func number(_ number: UInt64) -> [UInt8] {
      var bytes: [UInt8] = []
      RowFields.put(number, to: &bytes)
      return bytes
    }
    let highest = number(1 << 62)
    var (newest, covered, stamp) = (
      Self.rows([Entry()]), Self.rows([Entry()]), Self.rows([Entry(stamp: 1 << 62)])
    )
    newest.rows[0] = [2] + highest + [0, 1, 0, 0, 0, 0]
    covered.rows[0] = [2, 0, 0, 1, 0, 0, 0] + highest
    var last = Self.rows([Entry()])
    last.version = .max
    stamp.version = 3
    for rows in [newest, covered, stamp, last] {
      let journal = MemoryJournal(rows)
      let history = try await UseCaseHistory.open(journal, for: [HostileNote()])
      #expect(history.entries.count == 1)
      #expect(await history.execute(HostileNote(), "1").ended().journalReason == .cannotWrite)
    }
  }

  // MARK: Depth

  private static func nested(_ depth: Int) -> [Entry] {
    (0...UInt64(depth)).map { Entry(marks: group, parent: $0) } + [Entry(parent: UInt64(depth) + 1)]
  }

  @Test(.holds("Damage"))
  func `a group in a thousand others opens, and one more is refused`() async throws {
    let history = try await UseCaseHistory.open(
      MemoryJournal(Self.rows(Self.nested(1_000))), for: [HostileNote()])
    #expect(history.state.undoCount == 1)
    await history.back(1)
    #expect(history.state.redoCount == 1)
    for entries in [Self.nested(1_001), Self.nested(20_000)] {
      let error = await #expect(throws: HistoryJournalError.self) {
        try await UseCaseHistory.open(MemoryJournal(Self.rows(entries)), for: [HostileNote()])
      }
      #expect(error?.reason == .damaged(offset: 1_002))
    }
  }
}
