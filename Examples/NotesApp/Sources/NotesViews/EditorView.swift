import NotesModels
import SwiftUI
import UseCase

/// A note, with its own undo, the status of its autosave, and the order of a print.
struct EditorView: View {
  @Bindable var editor: EditorModel
  let app: AppModel

  var body: some View {
    TextEditor(text: $editor.text)
      .safeAreaInset(edge: .bottom) {
        HStack {
          Text(editor.status)
          if editor.isUnsaved { Button("Try again") { app.notebook.sendUnsent() } }
          if app.order.isRunning {
            ProgressView(value: app.order.update ?? 0)
          } else if let error = app.order.error {
            Text("Not ordered. \(String(describing: error))")
          } else if let receipt = app.order.value {
            Text(receipt)
          }
        }
      }
      .toolbar {
        UndoButton(edits: editor.edits, notebook: app.notebook)
        RedoButton(edits: editor.edits, notebook: app.notebook)
        Button("Order a print") { app.order.execute(editor.note) }
          .disabled(app.order.isRunning)
      }
  }
}
