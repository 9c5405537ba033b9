/// One fact in a journal. A record of a journal contains several.
///
/// All changes of a history go through its pool, and so do the facts when it is opened again: the
/// two pools come to the same, because they are told the same in the same order. So the behavior of
/// the pool is a part of the format of a journal.
enum HistoryFact: Equatable, Sendable {
  typealias ID = HistoryEntry.ID

  /// Bytes that are no facts, or a fact that contradicts those before.
  struct Malformed: Error, CustomStringConvertible {
    let sentence: String
    /// Where the fact begins in its record.
    var offset: Int?

    init(_ sentence: String) { self.sentence = sentence }

    var description: String { (offset.map { "Byte \($0) of the record: " } ?? "") + sentence }
  }

  /// The first number that no entry can have. Later numbers still fit into 63 bits.
  static let firstNumberBeyond: UInt64 = 1 << 62

  // MARK: Intents, each written before its body begins

  /// An execution begins, in this group. The pair has no response.
  case began(ID, in: ID?, HistoryPair)
  /// An undo or a redo of this step begins.
  case moving(ID)

  // MARK: Ends of intents

  /// It had no effect.
  case failed(ID)
  /// The execution has an effect. Its fate follows, with `ended`.
  case answered(ID, [UInt8]?, isMarked: Bool)
  /// The newest entry, as it is if the execution `ended` as merged.
  case combined(ID, HistoryPair)
  case ended(ID, End)
  /// The next recording drops only these undone entries, in the order in which they would have
  /// been redone. Without it, all.
  case contradicts([ID])
  case undone(ID)
  case redone(ID, [UInt8]?, isMarked: Bool)
  /// It can never be undone or redone. The rest of its group is another place.
  case obsolete(ID, place: ID)

  // MARK: Groups and moves

  case opened(ID, in: ID?, title: [UInt8])
  case closed(ID, isLost: Bool)
  /// An undo, a redo or a move takes so many entries into its hands.
  case moves(isRedo: Bool, count: Int)
  /// An undo takes this entry, wherever it is.
  case undoes(ID)
  /// A redo takes this entry, wherever it is.
  case redoes(ID)
  case moved

  // MARK: Done at once

  case limited(Int?)
  case cleared
  case forgot(ID)
  case saved(HistoryPlace?)
  /// `discard` has returned for these.
  case discarded([ID])

  // MARK: The whole history, when the journal is written anew

  case piece(Piece)

  /// A piece of a whole history. Each record is put on a stack, and taken from there.
  enum Piece: Equatable, Sendable {
    /// The number of the last fact before, and the newest id.
    case start(last: UInt64, newest: ID, HistoryPlaces)
    /// Puts an execution on the stack.
    case leaf(ID, HistoryPair)
    /// Makes the last of the stack a group.
    case bundle(ID, title: [UInt8], HistoryPlace, count: Int)
    /// Takes the last of the stack as the newest applied entry, or as the next to be redone.
    case kept(isApplied: Bool)
    /// So many steps of the newest applied entry are applied.
    case partial(Int)
    /// Takes the last of the stack as a group that has not ended.
    case interrupted
    /// Takes the last of the stack as a step whose `discard` has not returned.
    case dropped(HistoryDiscardReason)
  }
}

/// A request and a response as a journal keeps them, and the name of the use case.
struct HistoryPair: Equatable, Sendable {
  let name: String
  var request: [UInt8]
  /// Nil before there is one, and if it could not be encoded.
  var response: [UInt8]?
  /// Whether the execution touches keys, and not everything.
  var isMarked = false
  /// Whether `settle` did not know the fate of the execution, or of its undo or redo.
  var isInDoubt = false

  func answered(_ response: [UInt8]?, isMarked: Bool) -> Self {
    Self(name: name, request: request, response: response, isMarked: isMarked)
  }
}
