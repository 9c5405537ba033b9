import NotesWire
import UseCase
import UseCaseHistory

/// All that one can do with notes: what both front ends stand on.
struct Notes: Sendable {
  let notebook: Notebook
  let desk: Desk
  let paper: Paper
  let history: UseCaseHistory
  let list: ListNotes
  let show: RecordedUseCase<ShowNote>
  let new: RecordedUseCase<NewNote>
  let edit: RecordedUseCase<EditNote>
  let remove: RecordedUseCase<RemoveNote>
  let importNotes: ImportNotes
  let type: TypeText
  let rows: LoadRows
  let logIn: LogIn

  init(
    server: any UseCase<ServerRequest, [Note]>, cache: NotesCache = NotesCache(),
    paper: Paper = Paper(), credentials: Credentials = Credentials(),
    desk: Desk = Desk(), history: UseCaseHistory = UseCaseHistory(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    notebook = Notebook(server: server, cache: cache)
    (self.desk, self.paper, self.history) = (desk, paper, history)
    list = ListNotes(notebook: notebook)
    show = ShowNote(notebook: notebook, desk: desk).recorded(in: history)
    new = NewNote(notebook: notebook).recorded(in: history)
    edit = EditNote(notebook: notebook).recorded(in: history)
    remove = RemoveNote(notebook: notebook).recorded(in: history)
    importNotes = ImportNotes(newNote: new, paper: paper, history: history)
    type = TypeText(
      notebook: notebook, autosave: AutosaveNote(notebook: notebook, clock: clock))
    rows = LoadRows(notebook: notebook, load: LoadNote(notebook: notebook).shared())
    logIn = LogIn(credentials: credentials, listNotes: list)
  }

  /// The same, with the history that the journal keeps.
  static func open(
    _ journal: any HistoryJournal, interrupted: HistoryInterruption,
    server: any UseCase<ServerRequest, [Note]>, cache: NotesCache = NotesCache(),
    paper: Paper = Paper(), credentials: Credentials = Credentials()
  ) async throws -> Notes {
    let (notebook, desk) = (Notebook(server: server, cache: cache), Desk())
    let history = try await UseCaseHistory.open(
      journal,
      for: [
        ShowNote(notebook: notebook, desk: desk), NewNote(notebook: notebook),
        EditNote(notebook: notebook), RemoveNote(notebook: notebook),
      ], interrupted: interrupted)
    return Notes(
      server: server, cache: cache, paper: paper, credentials: credentials, desk: desk,
      history: history)
  }
}
