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

  package init(_ id: Note.ID, in notebook: Notebook) {
    (self.id, self.notebook) = (id, notebook)
    edits = HistoryModel(notebook.history, in: .keys(id))
  }

  package var text: String {
    get { typed ?? notebook.content.notes[id]?.text ?? "" }
    set { type(newValue) }
  }

  package var note: Note { notebook.content.notes[id] ?? Note(id: id) }

  package var status: String { notebook.status(of: id) }

  package var isUnsaved: Bool { notebook.content.unsent.contains(id) }

  package func type(_ text: String) {
    guard text != self.text else { return }
    let title = "Edit “\(note.title)”"
    typed = text
    let operation = notebook.edit(title, [Note(id: id, text: text)], isTyping: true)
    newest = operation.id
    operation.then { [weak self] _ in
      if self?.newest == operation.id { self?.typed = nil }
    }
  }
}
