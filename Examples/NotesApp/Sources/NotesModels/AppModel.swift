import Foundation
import Observation
import UseCase
import UseCaseHistory
import UseCaseJournal

/// Opens the notes and their history. It is the launch of the app.
package struct OpenNotes: UseCase {
  let folder: URL
  let server: Server
  let clock: any Clock<Duration>
  package let queue = UseCaseQueue(.dropWhileBusy)

  package init(
    in folder: URL, server: Server, clock: any Clock<Duration> = ContinuousClock()
  ) {
    (self.folder, self.server, self.clock) = (folder, server, clock)
  }

  package func main(_: Void) async throws -> AppModel {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
    let file = try NotesFile(at: folder.appending(path: "notes.json"))
    let history = try await UseCaseHistory.open(
      journal, for: [EditNotes(file: file)], limit: 200, clock: clock)
    return await AppModel(file: file, history: history, server: server, clock: clock)
  }
}

/// All of the app.
@MainActor @Observable
package final class AppModel {
  package let notebook: Notebook
  package let feed: FeedModel
  package let favorites: FavoritesModel
  package private(set) var editor: EditorModel?
  private let orderPrint: OrderPrint
  @ObservationIgnored private var orders: [Note.ID: ReportingUseCaseModel<OrderPrint>] = [:]

  package var selection: Note.ID? {
    didSet {
      if editor?.id != selection { editor = selection.map { EditorModel($0, in: notebook) } }
    }
  }

  init(
    file: NotesFile, history: UseCaseHistory, server: Server, clock: any Clock<Duration>
  ) {
    let sendNote = SendNote(server: server, file: file, clock: clock)
    notebook = Notebook(file, history, sendNote)
    feed = FeedModel(notebook, server: server, file: file, clock: clock)
    favorites = FavoritesModel(server: server)
    orderPrint = OrderPrint(server: server, file: file)
  }

  /// The order of a print of this note.
  package func order(of id: Note.ID) -> ReportingUseCaseModel<OrderPrint> {
    let order = orders[id] ?? ReportingUseCaseModel(orderPrint, cancelsOnRelease: false)
    orders[id] = order
    return order
  }

  /// Loads the newest notes and the stars, and sends what the server doesn't have.
  package func refresh() async {
    favorites.load()
    notebook.sendUnsent()
    await feed.load().ended()
  }

  package func newNote() {
    let now = Int(Date.now.timeIntervalSince1970 * 1000)
    let id = max(now, (notebook.content.notes.keys.max() ?? 0) + 1)
    notebook.edit("New note", [Note(id: id)])
    selection = id
  }
}
