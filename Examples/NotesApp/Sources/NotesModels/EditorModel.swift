import Observation
import UseCase
import UseCaseHistory

/// One note that is being edited, with the undo of this note alone.
@MainActor @Observable
package final class EditorModel: Identifiable {
  package let id: Note.ID
  package let edits: HistoryModel
  private let notebook: Notebook
  /// The text that was typed and is not in the file yet.
  private var typed: String?
  private var newest: UseCaseOperationID?
  /// Why that text is not in the file.
  private var failure: (any Error)?

  package init(_ id: Note.ID, in notebook: Notebook) {
    (self.id, self.notebook) = (id, notebook)
    edits = HistoryModel(notebook.history, in: .keys(id))
  }

  package var text: String {
    get { typed ?? notebook.content.notes[id]?.text ?? "" }
    set { type(newValue) }
  }

  /// The note as the editor shows it.
  package var note: Note {
    var note = notebook.content.notes[id] ?? Note(id: id)
    note.text = text
    return note
  }

  package var status: String {
    if let failure { return "Not written: \(failure)" }
    return notebook.status(of: id)
  }

  package var isUnsaved: Bool { failure != nil || notebook.content.unsent.contains(id) }

  package func type(_ text: String) {
    guard text != self.text else { return }
    let title = "Edit “\(note.title)”"
    typed = text
    write(text, title)
  }

  /// Writes and sends again what is only on the screen, or on this device.
  package func tryAgain() {
    if failure != nil, let typed { write(typed, "Edit “\(note.title)”") }
    notebook.sendUnsent()
  }

  private func write(_ text: String, _ title: String) {
    let operation = notebook.edit(title, [Note(id: id, text: text)], isTyping: true)
    newest = operation.id
    operation
      .then { [weak self] _ in
        guard let self, newest == operation.id else { return }
        (typed, failure) = (nil, nil)
      }
      .catch { [weak self] error in
        if self?.newest == operation.id { self?.failure = error }
      }
  }
}
