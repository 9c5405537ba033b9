import UseCase
import UseCaseHistory

/// The states of a history, one after each request, ready to be drawn.
struct UndoPool: Equatable, Sendable {
  static let name = "undo-pool"
  static let title = "UseCaseHistory"
  static let sentence = Phrase(
    "A failed step changes nothing, and can be tried again.",
    "Lo que falla no cambia nada y se puede repetir.")
  static let applied = Phrase("applied", "aplicada")
  static let undone = Phrase("undone, can be redone", "se puede rehacer")
  static let cursor = Phrase(
    "the cursor: undo goes left, redo goes right",
    "cursor: undo a la izquierda, redo a la derecha")

  let rows: [Row]

  struct Row: Equatable, Sendable {
    let asked: Phrase
    let hasFailed: Bool

    /// The applied ones, then the undone ones.
    let entries: [HistoryEntry]

    /// The titles of those that have left for good.
    let discarded: [String]

    /// A remark for the reader, besides those on failures and on entries that leave.
    let remark: Phrase?

    /// A remark about the row, for the reader.
    var note: Phrase {
      if let remark { return remark }
      if hasFailed { return Phrase("fails: nothing changes", "falla: nada cambia") }
      guard !discarded.isEmpty else { return Phrase("", "") }
      let titles = discarded.joined(separator: " ")
      return Phrase("\(titles) is discarded", "\(titles) se descarta")
    }
  }

  /// Asks a real history, one thing after the other.
  static func run() async -> UndoPool {
    let history = UseCaseHistory()
    let paper = Paper()
    let write = Write(paper: paper).recorded(in: history)
    var rows: [Row] = []

    func note<Request, Response>(
      _ asked: Phrase, _ operation: UseCaseOperation<Request, Response>, remark: Phrase? = nil
    ) async {
      let outcome = await operation.ended()
      let row = Row(
        asked: asked, hasFailed: (try? outcome.get()) == nil, entries: history.entries,
        discarded: paper.takeDiscarded(), remark: remark)
      rows.append(row)
    }

    write.execute("A")
    write.execute("B")
    await note(Phrase("execute A, B, C", "execute A, B, C"), write.execute("C"))
    await note(Phrase("undo", "undo"), history.undo())
    await note(Phrase("undo", "undo"), history.undo())
    await note(Phrase("redo", "redo"), history.redo())
    paper.refuses = true
    await note(Phrase("execute D", "execute D"), write.execute("D"))
    paper.refuses = false
    await note(Phrase("execute E", "execute E"), write.execute("E"))
    paper.refuses = true
    await note(Phrase("undo", "undo"), history.undo())
    paper.refuses = false
    await note(Phrase("undo, again", "undo, otra vez"), history.undo())
    await note(
      Phrase("group of F, G", "grupo de F, G"),
      history.group("group") {
        try await write("F")
        try await write("G")
      })
    await note(Phrase("undo", "undo"), history.undo())
    if let first = history.entries.first?.id {
      await note(
        Phrase("undo A", "undo de A"), history.undo(first),
        remark: Phrase("only A; B stays", "solo A; B sigue"))
    }
    return UndoPool(rows: rows)
  }
}

/// Writes a letter, unless the paper refuses it.
private struct Write: UndoableUseCase {
  let paper: Paper

  func main(_ letter: String) async throws { try paper.accept() }
  func undo(_ letter: String, _: Void) async throws { try paper.accept() }
  func title(for letter: String) -> String { letter }
  func footprint(of letter: String, _: Void) -> HistoryFootprint { .keys(letter) }
  func discard(_ letter: String, _: Void, _ reason: HistoryDiscardReason) { paper.discard(letter) }
}
