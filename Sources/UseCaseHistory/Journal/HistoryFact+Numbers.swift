/// The numbers in the records of a journal. They are for ever: a journal outlives the app that has
/// written it. Give a new case a new number, and never one that another case had.
///
/// A record is its version, 1 if its facts are numbered or 0 if not, and the facts. A numbered fact
/// begins with the distance from the number of the fact before. Each fact is its tag and its
/// fields:
///
/// | field | bytes |
/// |---|---|
/// | id, number, count | seven bits in a byte, the lowest first, 128 more if others follow; 63 bits |
/// | word | eight bytes, the lowest first |
/// | flag | 1 for yes, 0 for no |
/// | blob | its count, and its bytes |
/// | optional | a flag, and what it is if there is one |
/// | pair | the blobs of name and request, the optional blob of the response, and `PairFlag`s |
enum HistoryFactNumbers {
  static let recordVersion: UInt8 = 1

  enum Tag: UInt8, CaseIterable {
    /// id, optional id of the group, pair
    case began = 1
    /// id
    case moving = 2
    /// id
    case failed = 3
    /// id, optional blob, flag: it has marks
    case answered = 4
    /// id, pair
    case combined = 5
    /// id, `End`
    case ended = 6
    /// id
    case undone = 7
    /// id, optional blob, flag: it has marks
    case redone = 8
    /// id, optional id of the group, blob of the title
    case opened = 9
    /// id, flag: it is lost
    case closed = 10
    /// flag: a redo, count
    case moves = 11
    case moved = 12
    /// optional count
    case limited = 13
    case cleared = 14
    /// optional word
    case saved = 15
    /// count, so many ids
    case discarded = 16
    /// id of the newest, number of the last fact, word of the place, word of the last unknown place,
    /// count of covered entries
    case start = 17
    /// id, pair
    case leaf = 18
    /// id, blob of the title, word of the place, count of parts
    case bundle = 19
    /// flag: it is applied
    case kept = 20
    /// count
    case partial = 21
    case interrupted = 22
    /// number of the reason
    case dropped = 23
    /// id, number of the place
    case obsolete = 24
    /// id
    case undoes = 25
    /// id
    case forgot = 26
    /// id
    case redoes = 27
    /// count, so many ids
    case contradicts = 28
  }

  enum PairFlag {
    static let isMarked: UInt8 = 1
    static let isInDoubt: UInt8 = 2
    static let all = isMarked | isInDoubt
  }

  static let reasons: [(number: UInt8, reason: HistoryDiscardReason)] = [
    (0, .truncated), (1, .evicted), (2, .cleared), (3, .merged), (4, .annulled), (5, .obsolete),
    (6, .forgotten),
  ]
}

extension HistoryFact {
  /// The fate of an execution that has an effect.
  enum End: UInt8, CaseIterable, Sendable {
    case recorded = 0
    case merged = 1
    case annulled = 2
    /// The history was cleared meanwhile.
    case lost = 3
    /// It is a part of its group.
    case part = 4
  }
}
