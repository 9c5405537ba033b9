import Synchronization
import UseCase
import UseCaseHistory

/// A rename and its undo, which the server refuses once: each call, and the title that the server
/// has then.
struct UndoStory {
  let rows: [Row]

  static let name = "undo"

  private static let margin = 10.0
  private static let rowHeight = 47.0
  private static let titlesLeft = 316.0

  private static let title = Phrase(
    "Undo is a request, too: it can fail", "Deshacer es otra petición y puede fallar")
  private static let call = Phrase("your app calls", "la app llama a")
  private static let onServer = Phrase("the title", "el título")

  struct Row: Equatable, Sendable {
    let call: String
    let remark: Phrase
    let hasFailed: Bool
    /// The title that the server has afterwards.
    let title: String
  }

  /// Asks a real history, one thing after the other.
  static func run() async -> UndoStory {
    let server = Server()
    let history = UseCaseHistory()
    let rename = Rename(server: server).recorded(in: history)
    var rows: [Row] = []
    func note<Request, Response>(
      _ call: String, _ remark: Phrase, _ operation: UseCaseOperation<Request, Response>
    ) async {
      let outcome = await operation.ended()
      rows.append(
        Row(
          call: call, remark: remark, hasFailed: (try? outcome.get()) == nil,
          title: server.title))
    }
    await note(
      "rename.execute(\"Report\")", Phrase("“Draft” becomes “Report”", "«Draft» pasa a «Report»"),
      rename.execute("Report"))
    server.isOffline = true
    await note(
      "history.undo()", Phrase("offline: fails, nothing is lost", "sin red: falla sin perder nada"),
      history.undo())
    server.isOffline = false
    await note(
      "history.undo()", Phrase("online again: the old title is back", "con red: vuelve el título"),
      history.undo())
    await note(
      "history.redo()", Phrase("sends the rename once more", "repite el cambio de título"),
      history.redo())
    return UndoStory(rows: rows)
  }

  func svg(in language: Language) -> String {
    var svg = SVG(width: SVG.halfWidth, title: Self.title[language])
    svg.text(Self.title[language], Self.margin, 26, "heading")
    svg.text(Self.call[language], 36, 52, "faint")
    svg.text(Self.onServer[language], Self.titlesLeft, 52, "faint")
    for (index, row) in rows.enumerated() {
      draw(row, in: &svg, 62 + (Double(index) + 0.5) * Self.rowHeight, language)
    }
    return svg.source(height: 62 + Double(rows.count) * Self.rowHeight + 8)
  }

  private func draw(_ row: Row, in svg: inout SVG, _ y: Double, _ language: Language) {
    svg.line(Self.margin, y - 23, SVG.halfWidth - Self.margin, y - 23, "rule")
    svg.mark(row.hasFailed ? .failed : .succeeded, 20, y)
    svg.text(row.call, 36, y - 3, "label")
    svg.text(row.remark[language], 36, y + 15, "faint")
    let width = row.title.width + 16
    svg.box(Self.titlesLeft, y - 12, width, 24, "applied")
    svg.text(row.title, Self.titlesLeft + width / 2, y + 5, "centred")
  }

  /// The same for a terminal or a failed test.
  func text(in language: Language) -> String {
    let rows = rows.map { row in
      let call = row.call.padded(to: 26)
      return "\(row.hasFailed ? "#" : "+") \(call)\(row.title.padded(to: 8))\(row.remark[language])"
    }
    return "\(Self.title[language])\n\n\(rows.joined(separator: "\n"))\n"
  }
}

/// The server of the document, which refuses everything while it is offline.
private final class Server: Sendable {
  private let state = Mutex((title: "Draft", isOffline: false))

  var title: String { state.withLock { $0.title } }

  var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  func rename(to title: String) throws -> String {
    try state.withLock { state in
      if state.isOffline { throw Refusal() }
      defer { state.title = title }
      return state.title
    }
  }
}

private struct Rename: UndoableUseCase {
  let server: Server

  func main(_ title: String) async throws -> String { try server.rename(to: title) }
  func undo(_ title: String, _ oldTitle: String) async throws {
    _ = try server.rename(to: oldTitle)
  }
}
