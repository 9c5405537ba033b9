import NotesModels
import SwiftUI
import UseCase

/// A note, with its own undo, the status of its autosave, and the order of a print.
struct EditorView: View {
  @Bindable var editor: EditorModel
  let app: AppModel

  var body: some View {
    let order = app.order(of: editor.id)
    TextEditor(text: $editor.text)
      .disabled(editor.note.isDeleted)
      .safeAreaInset(edge: .bottom) {
        HStack {
          Text(editor.status)
          if editor.isUnsaved { Button("Try again") { editor.tryAgain() } }
          if order.isRunning {
            ProgressView(value: order.update ?? 0)
          } else if let error = order.error {
            Text("No receipt yet. \(String(describing: error))")
          } else if let receipt = order.value {
            Text(receipt)
          }
          if let message = app.notebook.message { Text(message) }
        }
      }
      .toolbar {
        UndoButton(edits: editor.edits, notebook: app.notebook)
        RedoButton(edits: editor.edits, notebook: app.notebook)
        Button("Order a print") { order.execute(editor.note) }
          .disabled(order.isRunning)
      }
  }
}
