/// What was asked of the lane.
enum HistoryAsk: Sendable {
  /// An execution or a group, which may become an entry.
  case recording
  /// To undo this entry.
  case undo(HistoryEntry.ID)
  /// To redo this entry.
  case redo(HistoryEntry.ID)
  case move(to: HistoryEntry.ID?)
  /// An undo or a redo of an entry that has never come to be: it is out of turn.
  case lost
  /// An undo or a redo that has found nothing.
  case nothing

  var isRecording: Bool {
    switch self {
    case .recording: true
    case .undo, .redo, .move, .lost, .nothing: false
    }
  }

  var hasEffect: Bool {
    switch self {
    case .recording, .undo, .redo, .move, .lost: true
    case .nothing: false
    }
  }

  /// The same ask, for `new` if it was for `old`. Nil is an entry that has never come to be.
  func retargeted(from old: HistoryEntry.ID, to new: HistoryEntry.ID?) -> Self {
    switch self {
    case .undo(old): new.map { .undo($0) } ?? .lost
    case .redo(old): new.map { .redo($0) } ?? .lost
    case .recording, .undo, .redo, .move, .lost, .nothing: self
    }
  }

  /// The same ask, which finds nothing if it is an undo or a redo.
  var unbound: Self {
    switch self {
    case .undo, .redo, .lost, .nothing: .nothing
    case .recording, .move: self
    }
  }
}
