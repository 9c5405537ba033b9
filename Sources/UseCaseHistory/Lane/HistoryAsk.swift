/// A question to the lane.
enum HistoryAsk: Sendable {
  /// An execution or a group, which may become an entry.
  case recording
  /// To undo this entry. Nil if there was nothing to undo.
  case undo(HistoryEntry.ID?)
  /// To redo this entry. Nil if there was nothing to redo.
  case redo(HistoryEntry.ID?)
  case move(to: HistoryEntry.ID?)
  /// To undo this entry, wherever it is.
  case undoEntry(HistoryEntry.ID)

  var isRecording: Bool {
    switch self {
    case .recording: true
    case .undo, .redo, .move, .undoEntry: false
    }
  }

  var hasEffect: Bool {
    switch self {
    case .undo(nil), .redo(nil): false
    case .recording, .undo, .redo, .move, .undoEntry: true
    }
  }

  /// The same ask, for `new` if it was for `old`.
  func retargeted(from old: HistoryEntry.ID, to new: HistoryEntry.ID) -> Self {
    switch self {
    case .undo(old): .undo(new)
    case .redo(old): .redo(new)
    case .recording, .undo, .redo, .move, .undoEntry: self
    }
  }

  /// The same ask, which finds nothing if it is an undo or a redo.
  var unbound: Self {
    switch self {
    case .undo: .undo(nil)
    case .redo: .redo(nil)
    case .recording, .move, .undoEntry: self
    }
  }
}
