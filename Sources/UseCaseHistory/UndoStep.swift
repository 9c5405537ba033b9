import UseCase

/// Undoes one entry. The observer of the lane knows an undo, and a redo, by its type.
struct UndoStep: UseCase {
  let history: UseCaseHistory

  var queue: UseCaseQueue { history.lane }

  @inline(__always)
  func main(_ move: HistoryMove) async throws -> HistoryEntry? {
    try await history.ledger.move().entry
  }
}

/// Redoes one entry.
struct RedoStep: UseCase {
  let history: UseCaseHistory

  var queue: UseCaseQueue { history.lane }

  @inline(__always)
  func main(_ move: HistoryMove) async throws -> HistoryEntry? {
    try await history.ledger.move().entry
  }
}

/// Undoes or redoes up to an entry.
struct Jump: UseCase {
  let history: UseCaseHistory

  var queue: UseCaseQueue { history.lane }

  func main(_ move: HistoryMove) async throws -> [HistoryEntry] {
    try await history.ledger.move().entries
  }
}
