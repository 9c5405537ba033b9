import Foundation
import NotesModels
import SwiftUI
import UseCase
import UseCaseHistory

/// The window of the app and its menu.
public struct NotesScene: Scene {
  @State private var launch: UseCaseModel<OpenNotes>

  /// Creates the scene.
  ///
  /// - Parameters:
  ///   - folder: Where the notes and their history are kept.
  ///   - server: The address of the server.
  public init(folder: URL, server: URL) {
    let open = OpenNotes(in: folder, server: Server(server))
    _launch = State(initialValue: UseCaseModel(open))
  }

  /// The scene.
  public var body: some Scene {
    WindowGroup { LaunchView(launch: launch) }
      .commands { UndoCommands(launch: launch) }
  }
}

struct LaunchView: View {
  let launch: UseCaseModel<OpenNotes>

  var body: some View {
    VStack {
      if let app = launch.value {
        NotesView(app: app)
      } else if let error = launch.error {
        Text(verbatim: "\(error)")
      } else {
        ProgressView()
      }
    }
    .task { if launch.value == nil { launch.execute() } }
  }
}

/// ⌘Z is for the note that is open, and else for all of them.
struct UndoCommands: Commands {
  let launch: UseCaseModel<OpenNotes>

  var body: some Commands {
    CommandGroup(replacing: .undoRedo) {
      if let app = launch.value {
        let edits = app.editor?.edits ?? app.notebook.edits
        UndoButton(edits: edits, notebook: app.notebook).keyboardShortcut("z")
        RedoButton(edits: edits, notebook: app.notebook)
          .keyboardShortcut("z", modifiers: [.command, .shift])
      }
    }
  }
}

struct UndoButton: View {
  let edits: HistoryModel
  let notebook: Notebook

  var body: some View {
    Button("Undo \(edits.undoTitle ?? "")") { notebook.follow(edits.undo()) }
      .disabled(!edits.canUndo)
  }
}

struct RedoButton: View {
  let edits: HistoryModel
  let notebook: Notebook

  var body: some View {
    Button("Redo \(edits.redoTitle ?? "")") { notebook.follow(edits.redo()) }
      .disabled(!edits.canRedo)
  }
}
