import UseCase
import UseCaseHistory

/// The states of a history, one after each request, ready to be drawn.
struct UndoPool: Equatable, Sendable {
  static let applied = Phrase("applied", "aplicada")
  static let undone = Phrase("undone, can be redone", "se puede rehacer")
  static let cursor = Phrase(
    "the cursor: undo goes left, redo goes right",
    "cursor: undo a la izquierda, redo a la derecha")

  let name: String
  let title: String
  let sentence: Phrase
  /// What undo and redo do at the cursor.
  var cursor = Self.cursor
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
        "descarta " + titles.map { $0[.spanish] }.joined(separator: " "))
    }
  }

  private static let words = [
    "Rename": "Nombre", "Star": "Marcar", "Move": "Mover", "Delete": "Eliminar", "Tag": "Nota",
    "Sort": "Orden", "group": "grupo",
  ]

  /// The title of an entry in every language.
  static func word(_ title: String) -> Phrase { Phrase(title, words[title] ?? title) }

  /// Asks a real history, one thing after the other.
  private struct Session {
    let history = UseCaseHistory()
    let paper = Paper()
    var write: RecordedUseCase<Write> { Write(paper: paper).recorded(in: history) }
    private(set) var rows: [Row] = []

    mutating func note<Request, Response>(
      _ asked: Phrase, _ operation: UseCaseOperation<Request, Response>, remark: Phrase? = nil
    ) async {
      let outcome = await operation.ended()
      let row = Row(
        asked: asked, hasFailed: (try? outcome.get()) == nil, entries: history.entries,
        discarded: paper.takeDiscarded(), remark: remark)
      rows.append(row)
    }
  }

  /// One document.
  static func run() async -> UndoPool {
    var session = Session()
    let (history, paper, write) = (session.history, session.paper, session.write)
    write.execute("Rename")
    write.execute("Star")
    await session.note(Phrase("three actions", "tres acciones"), write.execute("Move"))
    await session.note(Phrase("undo", "undo"), history.undo())
    paper.refuses = true
    await session.note(
      Phrase("undo, offline", "undo, sin red"), history.undo(),
      remark: Phrase("nothing changes", "nada cambia"))
    paper.refuses = false
    await session.note(Phrase("undo, again", "undo, otra vez"), history.undo())
    await session.note(Phrase("delete", "eliminar"), write.execute("Delete"))
    await session.note(
      Phrase("a group", "un grupo"),
      history.group("group") {
        try await write("Tag")
        try await write("Sort")
      })
    return UndoPool(
      name: "undo-pool", title: "UseCaseHistory",
      sentence: Phrase(
        "A failed step changes nothing, and can be tried again.",
        "Lo que falla no cambia nada y se puede repetir."),
      rows: session.rows)
  }

  /// Two documents, A and B, and an action over both.
  static func documents() async -> UndoPool {
    var session = Session()
    let (history, write) = (session.history, session.write)
    let (a, b) = (HistoryFootprint.keys("A"), HistoryFootprint.keys("B"))
    func edit(_ note: String) -> Phrase { Phrase("edit \(note)", "editar \(note)") }
    func undo(_ note: String) -> Phrase { Phrase("undo in \(note)", "undo en \(note)") }

    for title in ["A1", "B1", "A2"] { write.execute(title) }
    await session.note(
      Phrase("edit two notes", "editar dos notas"), write.execute("B2"))
    await session.note(undo("A"), history.undo(in: a), remark: Phrase("B2 stays", "B2 queda"))
    await session.note(
      edit("B"), write.execute("B3"), remark: Phrase("keeps A2", "conserva A2"))
    await session.note(Phrase("move text to B", "pasar texto a B"), write.execute("A+B"))
    await session.note(
      undo("B"), history.undo(in: b), remark: Phrase("undone in both", "en las dos notas"))
    return UndoPool(
      name: "documents", title: "undo(in:)",
      sentence: Phrase(
        "Each note undoes its own entries. A+B belongs to both.",
        "Cada nota deshace lo suyo. A+B es de las dos."),
      cursor: Phrase(
        "undo in a note takes its last one on the left",
        "undo en una nota: su última a la izquierda"),
      rows: session.rows)
  }
}

/// An action of an app, unless its server refuses it.
private struct Write: UndoableUseCase {
  let paper: Paper

  func main(_ letter: String) async throws { try paper.accept() }
  func undo(_ letter: String, _: Void) async throws { try paper.accept() }
  func title(for letter: String) -> String { letter }
  /// A row and its name, say: what deletes the row contradicts what was done with it. The title of an
  /// edit of notes names them.
  func footprint(of title: String, _: Void) -> HistoryFootprint {
    if !title.contains(where: \.isLowercase) {
      return .keys(title.filter(\.isUppercase).map { String($0) })
    }
    return .keys(["Star", "Move", "Delete"].contains(title) ? "row" : title)
  }
  func discard(_ letter: String, _: Void, _ reason: HistoryDiscardReason) { paper.discard(letter) }
}
