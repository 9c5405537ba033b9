import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseJournal

@testable import UseCaseHistory

/// Journals of each version of the format, in `Tests/Golden`. They have the entries that they had,
/// whatever the library is now, and the latest are written as they were, byte for byte.
///
/// `Tests/Golden/make` makes the set of a new version.
@Suite(.mustEnd)
struct GoldenTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Golden")
  private static let latest = "1"
  private static let made = ProcessInfo.processInfo.environment["GOLDEN_SET"]

  private static func url(_ set: String, _ file: String) -> URL {
    folder.appending(path: set).appending(path: file)
  }

  private struct Note: JournaledUseCase {
    static let journalName = "note"
    func main(_ text: String) async throws -> Int { text.count }
    func undo(_: String, _: Int) async throws {}
    func title(for text: String) -> String { text }
    func footprint(of text: String, _: Int) -> HistoryFootprint { .keys(text) }
  }

  /// Opens a copy of a golden journal. Returns its entries in words, and the bytes of the journal
  /// when it is written anew.
  private func opened(
    _ file: URL, _ interrupted: HistoryInterruption
  ) async throws -> (words: String, anew: [UInt8]) {
    let copy = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID())")
    try FileManager.default.copyItem(at: file, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let journal = try FileJournal(at: copy)
    let history = try await UseCaseHistory.open(
      journal, for: [Note()], interrupted: interrupted, limit: history(file))
    await history.idle()
    let whole = try #require(history.ledger.whole)
    let writer = try #require(history.ledger.journal)
    let facts = whole.facts(newest: .init(number: 1 << 40)) { writer.bytes(of: $0) }
    let state = history.state.isClean ? "clean" : "not clean"
    let words = history.entries.map { Self.words($0) } + ["\(interrupted), \(state)"]
    return (words.joined(separator: "\n"), FactRecord.bytes(of: facts))
  }

  /// The limit with which a journal was written, because `open` sets its own.
  private func history(_ file: URL) -> Int? { file.lastPathComponent.contains("limit") ? 3 : nil }

  private static func words(_ entry: HistoryEntry, indent: String = "") -> String {
    let mark = entry.isApplied ? "applied" : "undone"
    let own = "\(indent)\(entry.id) “\(entry.title)” \(mark), \(entry.standing)"
    return ([own] + entry.children.map { words($0, indent: indent + "  ") }).joined(separator: "\n")
  }

  private func both(_ file: URL) async throws -> (words: String, anew: [UInt8]) {
    let (kept, undone) = (try await opened(file, .keep), try await opened(file, .compensate))
    return (kept.words + "\n\n" + undone.words + "\n", kept.anew + undone.anew)
  }

  // MARK: Tests

  @Test(.holds("Format"))
  func `the golden journals have the entries that they had`() async throws {
    for set in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
      let files = try? FileManager.default.contentsOfDirectory(atPath: Self.url(set, "").path)
      for name in files ?? [] where name.hasSuffix(".journal") {
        let words = try String(contentsOf: Self.url(set, "\(name).txt"), encoding: .utf8)
        #expect(try await both(Self.url(set, name)).words == words, "\(set)/\(name)")
      }
    }
  }

  @Test(.holds("Format"))
  func `the golden journals of this version are written as they were`() async throws {
    if let set = Self.made { try await make(set) }
    let set = Self.made ?? Self.latest
    for (name, facts) in Self.sessions {
      let file = Self.url(set, "\(name).journal")
      #expect(try await Self.bytes(of: facts) == Array(Data(contentsOf: file)), "\(name)")
      let anew = try Data(contentsOf: Self.url(set, "\(name).journal.anew"))
      #expect(try await both(file).anew == Array(anew), "\(name)")
      for record in try await Self.records(file) { #expect(try Self.again(record) == record) }
    }
  }

  @Test(.holds("Format"))
  func `the golden journals have each kind of record`() async throws {
    var (tags, ends): (Set<UInt8>, Set<UInt8>) = ([], [])
    var reasons: Set<HistoryDiscardReason> = []
    for (_, facts) in Self.sessions {
      for fact in facts.whole + facts.since {
        var writer = FactWriter()
        fact.write(to: &writer)
        tags.insert(writer.bytes[0])
        if case .ended(_, let end) = fact { ends.insert(end.rawValue) }
        if case .piece(.dropped(let reason)) = fact { reasons.insert(reason) }
      }
    }
    #expect(tags == Set(HistoryFactNumbers.Tag.allCases.map(\.rawValue)))
    #expect(ends == Set(HistoryFact.End.allCases.map(\.rawValue)))
    #expect(reasons == Set(HistoryFactNumbers.reasons.map(\.reason)))
  }

  private func make(_ set: String) async throws {
    try FileManager.default.createDirectory(
      at: Self.url(set, ""), withIntermediateDirectories: true)
    for (name, facts) in Self.sessions {
      let file = Self.url(set, "\(name).journal")
      try Data(try await Self.bytes(of: facts)).write(to: file)
      let (words, anew) = try await both(file)
      try Data(words.utf8).write(to: Self.url(set, "\(name).journal.txt"))
      try Data(anew).write(to: Self.url(set, "\(name).journal.anew"))
    }
  }

  // MARK: Bytes

  private static func records(_ file: URL) async throws -> [[UInt8]] {
    let copy = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID())")
    try FileManager.default.copyItem(at: file, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    return try await FileJournal(at: copy).read()
  }

  private static func again(_ record: [UInt8]) throws -> [UInt8] {
    var (facts, numbered): ([HistoryFact], [NumberedFact]) = ([], [])
    try FactRecord.read(record) { number, fact in
      if let number {
        numbered.append(NumberedFact(number: number, fact: fact))
      } else {
        facts.append(fact)
      }
    }
    return numbered.isEmpty
      ? FactRecord.bytes(of: facts) : FactRecord.bytes(of: numbered)
  }

  /// Writes the facts to a file: the whole history anew, the others appended.
  private static func bytes(of facts: Facts) async throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    let journal = try FileJournal(at: file)
    if !facts.whole.isEmpty {
      try await journal.replace(with: [FactRecord.bytes(of: facts.whole)])
    }
    for (index, fact) in facts.since.enumerated() {
      let numbered = [NumberedFact(number: UInt64(index + 8), fact: fact)]
      try await journal.append(FactRecord.bytes(of: numbered))
    }
    await journal.close()
    return Array(try Data(contentsOf: file))
  }

  // MARK: Sessions

  private typealias Facts = (whole: [HistoryFact], since: [HistoryFact])

  private static func id(_ number: Int) -> HistoryEntry.ID { .init(number: UInt64(number)) }

  private static func pair(
    _ number: Int, _ name: String = "note", response: Int? = nil, isMarked: Bool = false,
    isInDoubt: Bool = false
  ) -> HistoryPair {
    HistoryPair(
      name: name, request: Array("\"text \(number)\"".utf8),
      response: response.map { Array("\($0)".utf8) }, isMarked: isMarked, isInDoubt: isInDoubt)
  }

  private static func answered(_ number: Int, in group: Int? = nil) -> [HistoryFact] {
    [
      .began(id(number), in: group.map { id($0) }, pair(number)),
      .answered(id(number), Array("\(number)".utf8), isMarked: number.isMultiple(of: 2)),
    ]
  }

  private static func done(_ numbers: Int...) -> [HistoryFact] {
    numbers.flatMap { answered($0) + [.ended(id($0), .recorded)] }
  }

  private static func part(_ number: Int, of group: Int) -> [HistoryFact] {
    answered(number, in: group) + [.ended(id(number), .part)]
  }

  private static func undone(_ number: Int) -> [HistoryFact] {
    [.moving(id(number)), .undone(id(number))]
  }

  private static func undo(_ number: Int) -> [HistoryFact] {
    [.moves(isRedo: false, count: 1)] + undone(number) + [.moved]
  }

  private static func redo(_ number: Int) -> [HistoryFact] {
    [
      .moves(isRedo: true, count: 1), .moving(id(number)),
      .redone(id(number), Array("7".utf8), isMarked: false), .moved,
    ]
  }

  private static func opened(_ number: Int, in parent: Int? = nil) -> HistoryFact {
    .opened(id(number), in: parent.map { id($0) }, title: Array("\"group \(number)\"".utf8))
  }

  private static func group(_ number: Int, _ parts: Int...) -> [HistoryFact] {
    [opened(number)] + parts.flatMap { part($0, of: number) }
      + [.closed(id(number), isLost: false)]
  }

  private static func leaf(_ number: Int, _ name: String = "note") -> HistoryFact {
    .piece(.leaf(id(number), pair(number, name, response: number)))
  }

  private static func bundle(_ number: Int, _ count: Int) -> HistoryFact {
    .piece(
      .bundle(id(number), title: Array("\"group \(number)\"".utf8), .of(id(number)), count: count))
  }

  private static let start = HistoryFact.piece(
    .start(
      last: 7, newest: id(99), .init(sum: .unknown(3), lastNumber: 3, covered: 1)))

  private static let sessions: [(name: String, facts: Facts)] = [
    ("executions", ([], done(1, 2, 3) + [.began(id(4), in: nil, pair(4)), .failed(id(4))])),
    ("undo and redo", ([], done(1, 2, 3) + undo(3) + undo(2) + redo(2))),
    (
      "merges and annulments",
      (
        [],
        done(1, 2) + answered(3) + [
          .combined(id(3), pair(23, response: 23)), .ended(id(3), .merged),
        ] + done(4) + answered(5) + [.ended(id(5), .annulled)]
      )
    ),
    (
      "groups",
      (
        [],
        done(1) + [opened(2)] + part(3, of: 2) + [opened(4, in: 2)] + part(5, of: 4)
          + [.closed(id(4), isLost: false)] + part(6, of: 2) + [.closed(id(2), isLost: false)]
      )
    ),
    (
      "a group rolled back as far as it went",
      (
        [],
        [opened(1)] + (2...5).flatMap { part($0, of: 1) } + undone(5) + [
          .moving(id(4)), .obsolete(id(4), place: id(9)), .moving(id(3)), .failed(id(3)),
          .closed(id(1), isLost: false),
        ]
      )
    ),
    (
      "a group half undone",
      (
        [],
        done(1) + group(2, 3, 4, 5) + [.moves(isRedo: false, count: 2)] + undone(5) + [
          .moving(id(4)), .failed(id(4)), .moved,
        ]
      )
    ),
    ("one of several undone", ([], done(2, 4, 6) + [.undoes(id(4))] + undone(4) + [.moved])),
    (
      "one of several redone",
      (
        [],
        done(2, 4, 6) + undo(6) + undo(4) + undo(2) + [
          .redoes(id(6)), .moving(id(6)), .redone(id(6), Array("7".utf8), isMarked: true), .moved,
        ] + answered(8) + [.contradicts([id(4)]), .ended(id(8), .recorded)]
      )
    ),
    ("executions in doubt", ([], done(1) + [.began(id(2), in: nil, pair(2))] + answered(3))),
    (
      "a redo in doubt",
      ([], done(1, 2) + undo(2) + [.moves(isRedo: true, count: 1), .moving(id(2))])
    ),
    (
      "a group that was interrupted",
      ([], done(1) + [opened(2)] + part(3, of: 2) + part(4, of: 2) + undone(4))
    ),
    (
      "unreadable entries",
      (
        [],
        done(1) + [
          .began(id(2), in: nil, pair(2, "from tomorrow")), .answered(id(2), nil, isMarked: false),
          .ended(id(2), .recorded), .began(id(3), in: nil, pair(3, "from tomorrow")),
        ]
      )
    ),
    (
      "a limit, and what has left",
      (
        [],
        [.limited(3)] + done(1, 2, 3, 4) + [
          .discarded([id(1)]), .saved(.of(id(3))), .forgot(id(2)), .saved(nil),
          .limited(nil),
        ]
      )
    ),
    (
      "cleared while it runs",
      ([], done(1) + answered(2) + [.cleared, .ended(id(2), .lost)] + done(3))
    ),
    (
      "written anew",
      (
        [
          start, .limited(nil), .saved(.unknown(3)), leaf(1), .piece(.kept(isApplied: true)),
          leaf(2, "from tomorrow"), .piece(.kept(isApplied: true)),
          leaf(3), leaf(4), bundle(5, 1), leaf(6), bundle(7, 3), .piece(.kept(isApplied: true)),
          .piece(.partial(2)), leaf(9), .piece(.kept(isApplied: false)), leaf(8),
          .piece(.kept(isApplied: false)), leaf(10), leaf(11), bundle(12, 2),
          .piece(.interrupted), .began(id(13), in: nil, pair(13, isInDoubt: true)),
          .began(id(14), in: nil, pair(14, "from tomorrow")),
        ]
          + zip(20..., HistoryFactNumbers.reasons).flatMap { number, reason in
            [leaf(number, "from tomorrow"), .piece(.dropped(reason.reason))]
          },
        []
      )
    ),
    (
      "written anew, and gone on",
      (
        [start, .limited(nil), .saved(nil), leaf(1), .piece(.kept(isApplied: true))],
        done(100) + undo(100) + group(101, 102) + undo(102)
      )
    ),
  ]
}
