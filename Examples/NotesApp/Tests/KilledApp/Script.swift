import NotesModels
import UseCase

/// An edit of the app as a line: `type 1 Milk`, `delete 1`, `move 1 2`, `toast`, `undo`, `redo 1`,
/// `load`, `star 1`.
package enum Script {
  @MainActor
  package static func run(_ line: String, in app: AppModel) async {
    let words = line.split(separator: " ")
    let notebook = app.notebook
    let ids = words.dropFirst().compactMap { Int($0) }
    let notes = ids.map { notebook.content.notes[$0] ?? Note(id: $0) }
    // Each line is an entry of its own, however fast they come.
    notebook.history.breakMerging()
    switch (words[0], ids.count) {
    case ("type", 1):
      let editor = EditorModel(ids[0], in: notebook)
      editor.type(String(words[2]))
    case ("delete", 1): notebook.delete(notes[0])
    case ("move", 2): notebook.move(notes[0], into: notes[1])
    case ("toast", 0): notebook.undoToast()
    case ("undo", 0): notebook.follow(notebook.edits.undo())
    case ("redo", 0): notebook.follow(notebook.edits.redo())
    case ("undo", 1): notebook.follow(EditorModel(ids[0], in: notebook).edits.undo())
    case ("redo", 1): notebook.follow(EditorModel(ids[0], in: notebook).edits.redo())
    case ("load", 0): app.feed.load()
    case ("star", 1): app.favorites.tap(ids[0])
    default: fatalError("There is no line “\(line)”.")
    }
    await notebook.history.idle()
  }
}
