@testable import UseCaseHistory

/// Facts of which a megabyte can cost much time, and from which hostile journals are made.
extension HostileJournalTests {
  typealias CostlyKind = (name: String, facts: @Sendable (Int) -> Facts)

  typealias Facts = (whole: [HistoryFact], since: [HistoryFact])

  static func id(_ number: Int) -> HistoryEntry.ID { .init(number: UInt64(number)) }
  static let pair = HistoryPair(name: "write", request: Array("\"A\"".utf8))
  static let start = start(last: 0, newest: 1)

  static func start(
    last: UInt64, newest: UInt64, lastPlace: UInt64 = 0
  ) -> HistoryFact {
    let marks = HistoryPlaces(sum: .beginning, lastNumber: lastPlace, covered: 0)
    return .piece(.start(last: last, newest: .init(number: newest), marks))
  }

  static func leaf(_ number: Int) -> HistoryFact {
    let answer = Array(#"{"number":\#(number),"lines":[\#(number)]}"#.utf8)
    return .piece(.leaf(id(number), pair.answered(answer, isMarked: false)))
  }

  static func bundle(_ number: Int, _ count: Int) -> HistoryFact {
    .piece(.bundle(id(number), title: [], .of(id(number)), count: count))
  }

  static func kept(_ isApplied: Bool = true) -> HistoryFact {
    .piece(.kept(isApplied: isApplied))
  }

  static func entries(_ count: Int) -> [HistoryFact] {
    (1...count).flatMap { [leaf($0), kept()] }
  }

  static func began(_ number: Int, in group: Int? = nil) -> HistoryFact {
    .began(id(number), in: group.map { id($0) }, pair)
  }

  static func part(_ number: Int, of group: Int) -> [HistoryFact] {
    [
      began(number, in: group), .answered(id(number), [], isMarked: false),
      .ended(id(number), .part),
    ]
  }

  static func undo(_ number: Int) -> [HistoryFact] {
    [.moving(id(number)), .undone(id(number))]
  }

  static func opened(_ number: Int, in parent: Int? = nil) -> HistoryFact {
    .opened(id(number), in: parent.map { id($0) }, title: [])
  }

  /// The records of a journal with these facts.
  static func records(_ facts: Facts) -> [[UInt8]] {
    let numbered = facts.since.enumerated().map { NumberedFact(number: UInt64($0 + 1), fact: $1) }
    return [FactRecord.bytes(of: [start] + facts.whole), FactRecord.bytes(of: numbered)]
  }

  static func redo(_ number: Int) -> [HistoryFact] {
    [.moving(id(number)), .redone(id(number), [], isMarked: false)]
  }

  static func moved(_ start: HistoryFact, _ steps: [HistoryFact]) -> [HistoryFact] {
    [start] + steps + [.moved]
  }

  static func moveOne(isRedo: Bool, _ steps: [HistoryFact]) -> [HistoryFact] {
    moved(.moves(isRedo: isRedo, count: 1), steps)
  }

  static func executed(_ number: Int, _ end: HistoryFact.End = .recorded) -> [HistoryFact] {
    [began(number), .answered(id(number), [], isMarked: false), .ended(id(number), end)]
  }

  /// Entries that touch a key each.
  static func keyed(_ count: Int) -> [HistoryFact] {
    (1...count).flatMap { [.piece(.leaf(id($0), pair.answered([], isMarked: true))), kept()] }
  }

  static func undone(_ count: Int) -> [HistoryFact] {
    (1...count).flatMap { [leaf($0), kept(false)] }
  }

  static func greatGroup(_ count: Int) -> [HistoryFact] {
    (1...count).map { leaf($0) } + [bundle(count + 1, count)]
  }

  static let costly = grown + moving

  private static let grown: [CostlyKind] = [
    (
      "clears while executions run",
      { n in
        ([], (1...n).map { began($0) } + Array(repeating: .cleared, count: n))
      }
    ),
    (
      "clears while groups are open",
      { n in
        ([], (1...n).map { opened($0) } + Array(repeating: .cleared, count: n))
      }
    ),
    (
      "nothing discarded",
      { n in
        (
          (1...n).flatMap { [leaf($0), .piece(.dropped(.cleared))] },
          Array(repeating: .discarded([]), count: n)
        )
      }
    ),
    (
      "what is not there is forgotten",
      { n in
        (entries(n), (1...n).map { .forgot(id(n + $0)) })
      }
    ),
    (
      "entries that touch everything are forgotten",
      { n in
        (entries(n), (1...n).map { .forgot(id($0)) })
      }
    ),
    (
      "answers",
      { n in
        ([], (1...n).map { began($0) } + (1...n).map { .answered(id($0), [], isMarked: false) })
      }
    ),
    (
      "a group rolled back",
      { n in
        ([], [opened(1)] + (2...n).flatMap { part($0, of: 1) } + (2...n).reversed().flatMap(undo))
      }
    ),
    (
      "groups rolled back at once",
      { n in
        (
          [],
          (1...n).map { opened($0) } + (1...n).flatMap { part(n + $0, of: $0) }
            + (1...n).flatMap { undo(n + $0) }
        )
      }
    ),
    (
      "nested groups, of which each undoes one",
      { n in
        let depth = min(n / 2, 1_000)
        return (
          [],
          [opened(1)] + (2...depth).map { opened($0, in: $0 - 1) }
            + (1...n).flatMap { part(n + $0, of: depth) }
            + (1...depth).reversed().flatMap {
              undo(n + $0 + n - depth) + [.closed(id($0), isLost: false)]
            }
        )
      }
    ),
    (
      "moves that do nothing",
      { n in
        (
          entries(n),
          (1...n).flatMap { _ in [.moves(isRedo: false, count: n), .moved] }
        )
      }
    ),
    (
      "moves that come one entry far",
      { n in
        let redo: [HistoryFact] = [
          .moves(isRedo: true, count: 1), .moving(id(n)), .redone(id(n), [], isMarked: false),
          .moved,
        ]
        return (
          entries(n),
          (1...n).flatMap { _ in
            [.moves(isRedo: false, count: n)] + undo(n) + [.moved] + redo
          }
        )
      }
    ),
    (
      "old executions that are settled",
      { n in
        ((1...n).flatMap { [leaf(n + $0), kept()] } + (1...n).map { began($0) }, [])
      }
    ),
    (
      "groups of one",
      { n in
        (
          (1...n).flatMap { [leaf($0), bundle(n + $0, 1)] } + [
            bundle(3 * n, n), kept(),
          ], []
        )
      }
    ),
  ]

  private static let moving: [CostlyKind] = [
    ("entries undone wherever they are", { undoneAnywhere(entries($0), $0) }),
    ("entries with keys undone wherever they are", { undoneAnywhere(keyed($0), $0) }),
    ("entries redone wherever they are", { redoneAnywhere(entries($0), $0) }),
    ("entries with keys redone wherever they are", { redoneAnywhere(keyed($0), $0) }),
    ("undone entries contradicted again and again", { contradicted($0) }),
    ("undone entries dropped one by one", { dropped($0) }),
    ("executions with keys whose ends are missing, behind undone entries", { unended($0) }),
    ("merges and annulments", { (entries($0), (1...$0).flatMap(merged)) }),
    ("groups of which each loses a part to one move", { losing($0) }),
    ("a great group of which each move undoes a part", { undoneInParts($0) }),
    ("a great group of which each move redoes a part", { redoneInParts($0) }),
    ("a great group of which each recording drops a part", { splitAgain($0) }),
    ("a great group that goes on", { goesOn($0) }),
  ]

  @Sendable private static func undoneAnywhere(_ whole: [HistoryFact], _ n: Int) -> Facts {
    // From the middle, so that entries are above and below.
    let numbers = (1...n).map { ($0 + n / 2) % n + 1 }
    return (whole, numbers.flatMap { moved(.undoes(id($0)), undo($0)) })
  }

  private static func redoneAnywhere(_ whole: [HistoryFact], _ n: Int) -> Facts {
    let (_, undone) = undoneAnywhere(whole, n)
    return (whole, undone + (1...n).flatMap { moved(.redoes(id($0)), redo($0)) })
  }

  private static func contradicted(_ n: Int) -> Facts {
    (undone(n), (1...n).map { _ in .contradicts([id(1)]) })
  }

  private static func dropped(_ n: Int) -> Facts {
    let since = (1...n).flatMap { number in
      executed(n + number).dropLast()
        + [.contradicts([id(number)]), .ended(id(n + number), .recorded)]
    }
    return (undone(n), since)
  }

  private static func unended(_ n: Int) -> Facts {
    let whole = keyed(n).map { $0 == kept() ? kept(false) : $0 }
    let since = (n + 1...2 * n).flatMap { number in
      [began(number), .answered(id(number), [], isMarked: true)]
    }
    return (whole, since)
  }

  private static func merged(_ number: Int) -> [HistoryFact] {
    let id = 1_000_000 + number
    if number.isMultiple(of: 2) { return executed(id, .annulled) }
    var facts = executed(id, .merged)
    facts.insert(.combined(Self.id(id), pair.answered([], isMarked: false)), at: 2)
    return facts
  }

  private static func losing(_ n: Int) -> Facts {
    let whole = (1...n).flatMap {
      [leaf(3 * $0), leaf(3 * $0 + 1), bundle(3 * $0 + 2, 2), kept()]
    }
    let steps = (1...n).reversed().flatMap { number -> [HistoryFact] in
      let second = id(3 * number + 1)
      return [.moving(second), .obsolete(second, place: second)] + undo(3 * number)
    }
    return (whole, moved(.moves(isRedo: false, count: n), steps))
  }

  private static func undoneInParts(_ n: Int) -> Facts {
    (
      greatGroup(n) + [kept()],
      (2...n).reversed().flatMap { moveOne(isRedo: false, undo($0)) }
    )
  }

  private static func redoneInParts(_ n: Int) -> Facts {
    (
      greatGroup(n) + [kept(false)],
      (1..<n).flatMap { moveOne(isRedo: true, redo($0)) }
    )
  }

  private static func splitAgain(_ n: Int) -> Facts {
    var since: [HistoryFact] = []
    for number in (2...n).reversed() {
      since += moveOne(isRedo: false, undo(number))
      since += executed(2 * n + number)
      since += moveOne(isRedo: false, undo(2 * n + number))
    }
    return (greatGroup(n) + [kept()], since)
  }

  private static func goesOn(_ n: Int) -> Facts {
    let parts = (1...n).flatMap { part(2 * n + $0, of: n + 1) }
    return (
      greatGroup(n) + [.piece(.interrupted)], parts + [.closed(id(n + 1), isLost: false)]
    )
  }
}
