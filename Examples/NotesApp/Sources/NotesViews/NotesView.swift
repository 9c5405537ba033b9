import NotesModels
import SwiftUI
import UseCase

/// The list with its search, and the note that is selected.
struct NotesView: View {
  @Bindable var app: AppModel
  @Environment(\.scenePhase) private var scenePhase

  var body: some View {
    @Bindable var feed = app.feed
    NavigationSplitView {
      List(app.feed.rows, selection: $app.selection) { note in NoteRow(note: note, app: app) }
        .searchable(text: $feed.text)
        .refreshable { await app.refresh() }
        .overlay { if app.feed.search.isRunning { ProgressView() } }
        .safeAreaInset(edge: .bottom) { MessageView(app: app) }
        .toolbar {
          if app.editor == nil {
            UndoButton(edits: app.notebook.edits, notebook: app.notebook)
            RedoButton(edits: app.notebook.edits, notebook: app.notebook)
          }
          Button("New note") { app.newNote() }
        }
    } detail: {
      if let editor = app.editor { EditorView(editor: editor, app: app).id(editor.id) }
    }
    .task { await app.refresh() }
    .task { await app.notebook.watch(reachability()) }
    .onChange(of: app.notebook.isOnline) { _, isOnline in
      if isOnline { Task { await app.refresh() } }
    }
    .onChange(of: scenePhase) { _, phase in
      // On iOS, the first of them needs a background task of the system.
      if phase == .background { Task { await app.notebook.saveNow() } }
      if phase == .active { Task { await app.refresh() } }
    }
  }
}

struct NoteRow: View {
  let note: Note
  let app: AppModel

  var body: some View {
    HStack {
      Text(note.title)
      Button(app.favorites.ids.value.contains(note.id) ? "★" : "☆") { app.favorites.tap(note.id) }
        .buttonStyle(.borderless)  // else a tap on the row taps it
    }
    .onAppear { if note.id == app.feed.rows.last?.id { app.feed.loadMore() } }
    .swipeActions {
      Button("Delete") { app.notebook.delete(note) }
      if let editor = app.editor, editor.id != note.id, !editor.note.isDeleted {
        Button("Move into “\(editor.note.title)”") { app.notebook.move(note, into: editor.note) }
      }
    }
  }
}

/// The toast, what has failed, and the end of the list.
struct MessageView: View {
  let app: AppModel

  var body: some View {
    VStack {
      if app.feed.page.isRunning {
        ProgressView()
      } else if app.feed.isIncomplete {
        Button("Load again") { app.feed.tryAgain() }
      }
      if let error = app.feed.search.error { Text("Not searched. \(String(describing: error))") }
      if let message = app.notebook.message { Text(message) }
      if let message = app.favorites.message { Text(message) }
      if app.notebook.failed > 0 {
        Button("Not sent: \(app.notebook.failed). Try again") { app.notebook.sendUnsent() }
      }
      if let toast = app.notebook.toast {
        HStack {
          Text(toast.text)
          Button("Undo") { app.notebook.undoToast() }
        }
      }
    }
  }
}
