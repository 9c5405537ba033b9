import NotesModels
import SwiftUI
import UseCase

/// The list with its search, and the note that is selected.
struct NotesView: View {
  @Bindable var app: AppModel
  @Environment(\.scenePhase) private var scenePhase
  @State private var text = ""

  var body: some View {
    NavigationSplitView {
      List(app.feed.rows, selection: $app.selection) { note in NoteRow(note: note, app: app) }
        .searchable(text: $text)
        .onChange(of: text) { app.feed.find(text) }
        .refreshable { await app.feed.load().ended() }
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
    .task {
      app.feed.load()
      app.favorites.load()
    }
    .task { await app.notebook.watch(reachability()) }
    .onChange(of: scenePhase) { _, phase in
      if phase == .background { Task { await app.notebook.saveNow() } }
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
      if let editor = app.editor, editor.id != note.id {
        Button("Move into “\(editor.note.title)”") { app.notebook.move(note, into: editor.note) }
      }
    }
  }
}

/// The toast, the last error, and the end of the list.
struct MessageView: View {
  let app: AppModel

  var body: some View {
    VStack {
      if app.feed.page.isRunning {
        ProgressView()
      } else if app.feed.page.error != nil {
        Button("Load more") { app.feed.loadMore() }
      }
      if let message = app.notebook.message { Text(message) }
      if let error = app.favorites.ids.error {
        Text("The star was taken back. \(String(describing: error))")
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
