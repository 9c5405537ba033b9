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
      let titles = discarded.map(UndoPool.word)
      return Phrase(
        "drops " + titles.map { $0[.english] }.joined(separator: " "),
        "quita lo deshecho")
    }
  }

  private static let words = [
    "Rename": "Nombre", "Star": "Marcar", "Move": "Mover", "Delete": "Borrar", "Tag": "Nota",
    "Sort": "Orden", "group": "grupo",
  ]

  /// The title of an entry in every language.
  static func word(_ title: String) -> Phrase { Phrase(title, words[title] ?? title) }

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

    write.execute("Rename")
    write.execute("Star")
    await note(Phrase("three actions", "tres acciones"), write.execute("Move"))
    await note(Phrase("undo", "undo"), history.undo())
    paper.refuses = true
    await note(
      Phrase("undo, offline", "undo, sin red"), history.undo(),
      remark: Phrase("nothing changes", "nada cambia"))
    paper.refuses = false
    await note(Phrase("undo, again", "undo, otra vez"), history.undo())
    await note(Phrase("delete", "borrar"), write.execute("Delete"))
    await note(
      Phrase("a group", "un grupo"),
      history.group("group") {
        try await write("Tag")
        try await write("Sort")
      })
    await note(Phrase("undo", "undo"), history.undo())
    await note(Phrase("redo", "redo"), history.redo())
    if let first = history.entries.first?.id {
      await note(
        Phrase("undo rename", "undo de nombre"), history.undo(first),
        remark: Phrase("only this one", "solo esta"))
    }
    return UndoPool(rows: rows)
  }
}

/// An action of an app, unless its server refuses it.
private struct Write: UndoableUseCase {
  let paper: Paper

  func main(_ letter: String) async throws { try paper.accept() }
  func undo(_ letter: String, _: Void) async throws { try paper.accept() }
  func title(for letter: String) -> String { letter }
  /// A row and its name, say: what deletes the row contradicts what was done with it.
  func footprint(of letter: String, _: Void) -> HistoryFootprint {
    .keys(["Star", "Move", "Delete"].contains(letter) ? "row" : letter)
  }
  func discard(_ letter: String, _: Void, _ reason: HistoryDiscardReason) { paper.discard(letter) }
}
