import UseCase
import UseCaseHistory

/// What a history looked like after each thing that was asked of it, ready to be drawn.
struct UndoPool: Equatable, Sendable {
  static let name = "undo-pool"
  static let title = "UseCaseHistory"
  static let sentence = "An undo pool that loses nothing when a step fails."

  let rows: [Row]

  struct Row: Equatable, Sendable {
    let asked: String
    let hasFailed: Bool

    /// The applied ones, then the undone ones.
    let entries: [HistoryEntry]

    /// The titles of those that have left for good.
    let truncated: [String]
  }

  /// Asks a real history, one thing after the other.
  static func run() async -> UndoPool {
    let history = UseCaseHistory()
    let paper = Paper()
    let write = Write(paper: paper).recorded(in: history)
    var rows: [Row] = []

    func note<Request, Response>(
      _ asked: String, _ operation: UseCaseOperation<Request, Response>
    ) async {
      let outcome = await operation.ended()
      let row = Row(
        asked: asked, hasFailed: (try? outcome.get()) == nil, entries: history.entries,
        truncated: paper.takeDiscarded())
      rows.append(row)
    }

    write.execute("A")
    write.execute("B")
    await note("execute A, B, C", write.execute("C"))
    await note("undo", history.undo())
    await note("undo", history.undo())
    await note("redo", history.redo())
    paper.refuses = true
    await note("execute D", write.execute("D"))
    paper.refuses = false
    await note("execute E", write.execute("E"))
    paper.refuses = true
    await note("undo", history.undo())
    paper.refuses = false
    await note("undo, again", history.undo())
    await note(
      "group of F, G",
      history.group("group") {
        try await write("F")
        try await write("G")
      })
    await note("undo", history.undo())
    return UndoPool(rows: rows)
  }
}

/// Writes a letter, unless the paper refuses it.
private struct Write: UndoableUseCase {
  let paper: Paper

  func main(_ letter: String) async throws { try paper.accept() }
  func undo(_ letter: String, _: Void) async throws { try paper.accept() }
  func title(for letter: String) -> String { letter }
  func discard(_ letter: String, _: Void, _ reason: HistoryDiscardReason) { paper.discard(letter) }
}
