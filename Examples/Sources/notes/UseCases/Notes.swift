import NotesWire
import UseCase
import UseCaseHistory

/// All that one can do with notes: what both front ends stand on.
struct Notes: Sendable {
  let notebook: Notebook
  let desk = Desk()
  let history = UseCaseHistory()
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
    paper: Paper = Paper(), credentials: Credentials = Credentials()
  ) {
    notebook = Notebook(server: server, cache: cache)
    list = ListNotes(notebook: notebook)
    show = ShowNote(notebook: notebook, desk: desk).recorded(in: history)
    new = NewNote(notebook: notebook, paper: paper).recorded(in: history)
    edit = EditNote(notebook: notebook).recorded(in: history)
    remove = RemoveNote(notebook: notebook).recorded(in: history)
    importNotes = ImportNotes(newNote: new, history: history)
    type = TypeText(notebook: notebook, autosave: AutosaveNote(notebook: notebook))
    rows = LoadRows(notebook: notebook, load: LoadNote(notebook: notebook).shared())
    logIn = LogIn(credentials: credentials, listNotes: list)
  }
}
