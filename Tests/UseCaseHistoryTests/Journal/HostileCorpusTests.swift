import Foundation
import Testing

@testable import UseCaseHistory
@testable import UseCaseJournal

/// The files in `Tests/Fuzz/Corpus`, with which the fuzzer begins: one of each kind of hostile
/// journal, with the right checksums.
///
/// `HOSTILE_CORPUS=1 swift test --filter HostileCorpus` writes them.
struct HostileCorpusTests {
  private typealias Facts = HostileJournalTests.Facts

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  private static func id(_ number: UInt64) -> HistoryEntry.ID { .init(number: number) }

  private static func pair(_ text: String, _ response: [UInt8]? = nil) -> HistoryPair {
    HistoryPair(name: "note", request: Array("\"\(text)\"".utf8), response: response)
  }

  private static func start(last: UInt64 = 0, newest: UInt64 = 1, place: UInt64 = 0) -> HistoryFact
  {
    let places = HistoryPlaces(sum: .beginning, lastNumber: place, covered: 0)
    return .piece(.start(last: last, newest: id(newest), places))
  }

  private static func leaf(_ number: UInt64) -> HistoryFact {
    .piece(.leaf(id(number), pair("n\(number)", Array("1".utf8))))
  }

  private static func bundle(_ number: UInt64, _ count: Int) -> HistoryFact {
    .piece(.bundle(id(number), title: Array("\"G\"".utf8), .of(id(number)), count: count))
  }

  private static let kept = HistoryFact.piece(.kept(isApplied: true))
  private static func began(_ number: UInt64) -> HistoryFact {
    .began(id(number), in: nil, pair("b\(number)"))
  }
  private static func answered(_ number: UInt64) -> HistoryFact {
    .answered(id(number), Array("1".utf8), isMarked: false)
  }
  private static func executed(_ number: UInt64) -> [HistoryFact] {
    [began(number), answered(number), .ended(id(number), .recorded)]
  }

  private static let group = [leaf(1), leaf(2), bundle(3, 2), kept, .piece(.partial(1))]

  private static let contradictory: [(name: String, facts: Facts)] = [
    ("applied behind half undone", ([start()] + group + [leaf(4), kept], [])),
    ("an id twice", ([start(), leaf(1), kept, leaf(1), kept], [])),
    ("an id twice, appended", ([start()], executed(2) + executed(2))),
    ("an end before its beginning", ([start()], [answered(2), began(2)])),
    ("an end twice", ([start()], executed(2) + [.ended(id(2), .recorded)])),
    ("began again", ([start()], executed(2) + [began(2), .ended(id(2), .recorded)])),
    ("a leaf in no entry", ([start(), leaf(1)], [])),
    ("a bundle of more than there is", ([start(), leaf(1), bundle(2, 3), kept], [])),
    (
      "merged into a group",
      (
        [start()] + group.dropLast(),
        [
          began(4), answered(4), .combined(id(4), pair("m", Array("1".utf8))),
          .ended(id(4), .merged),
        ]
      )
    ),
    (
      "a group in itself",
      ([start()], [.opened(id(2), in: id(2), title: []), .closed(id(2), isLost: false)])
    ),
    ("a move that has not begun", ([start(), leaf(1), kept], [.undone(id(1)), .moved])),
    ("more moves than entries", ([start(), leaf(1), kept], [.moves(isRedo: true, count: 7)])),
    ("nested", ([start(), leaf(1)] + (2...500).map { bundle($0, 1) } + [kept], [])),
    ("the highest id", ([start(newest: 1 << 62 - 1), leaf(1 << 62 - 1), kept], [])),
    ("an id too high", ([start(newest: .max)], [])),
    ("the highest fact", ([start(last: 1 << 62 - 1), leaf(1), kept], [])),
    ("the highest place", ([start(place: 1 << 63 - 1)] + group, executed(9))),
  ]

  private static var all: [(name: String, facts: Facts)] {
    contradictory
      + HostileJournalTests.costly.map { name, facts in
        let (whole, since) = facts(8)
        return (name, ([start()] + whole, since))
      }
  }

  private static func file(_ facts: Facts) -> [UInt8] {
    let numbered = facts.since.enumerated().map { NumberedFact(number: UInt64($0 + 1), fact: $1) }
    let records = [FactRecord.bytes(of: facts.whole), FactRecord.bytes(of: numbered)]
    return JournalFormat.header(whole: JournalFormat.size(of: records) ?? 0)
      + records.flatMap { JournalFormat.frame($0) }
  }

  @Test func `the corpus of the fuzzer has one of each kind`() throws {
    let isWritten = ProcessInfo.processInfo.environment["HOSTILE_CORPUS"] != nil
    for (name, facts) in Self.all {
      let url = Self.folder.appending(path: "\(name).journal")
      let bytes = Data(Self.file(facts))
      if isWritten { try bytes.write(to: url) }
      #expect(try Data(contentsOf: url) == bytes, "\(name)")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(files.count == Self.all.count)
  }
}
