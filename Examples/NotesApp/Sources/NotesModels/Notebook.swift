import Observation
import UseCase
import UseCaseHistory

/// The notes, their undo, and what is on its way to the server.
@MainActor @Observable
package final class Notebook {
  package struct Toast: Equatable {
    package let text: String
    let entry: HistoryEntry.ID
  }

  package private(set) var content = NotesFile.Content()
  package private(set) var toast: Toast?
  package private(set) var message: String?
  package let edits: HistoryModel
  package let history: UseCaseHistory
  private let file: NotesFile
  private let editNotes: RecordedUseCase<EditNotes>
  private let sendNote: SendNote
  private var sending: [Note.ID: UseCaseModel<SendNote>] = [:]

  init(_ file: NotesFile, _ history: UseCaseHistory, _ sendNote: SendNote) {
    (self.file, self.history, self.sendNote) = (file, history, sendNote)
    editNotes = EditNotes(file: file).recorded(in: history)
    edits = HistoryModel(history)
    show()  // and sends what an earlier launch could not
  }

  // MARK: - Edits

  @discardableResult
  package func edit(
    _ title: String, _ notes: [Note], isTyping: Bool = false
  ) -> UseCaseOperation<EditNotes.Request, [Note]> {
    follow(editNotes.execute(.init(title: title, notes: notes, isTyping: isTyping)))
  }

  @discardableResult
  package func delete(_ note: Note) -> UseCaseOperation<EditNotes.Request, [Note]> {
    var deleted = note
    deleted.isDeleted = true
    return act("Delete “\(note.title)”", [deleted])
  }

  /// Moves the text of a note into another one: one entry of both.
  @discardableResult
  package func move(
    _ note: Note, into other: Note
  ) -> UseCaseOperation<EditNotes.Request, [Note]> {
    var (moved, longer) = (note, other)
    (moved.isDeleted, longer.isDeleted) = (true, false)
    longer.text += "\n" + note.text
    return act("Move “\(note.title)” into “\(other.title)”", [moved, longer])
  }

  /// Makes an edit that a toast offers to undo.
  private func act(
    _ title: String, _ notes: [Note]
  ) -> UseCaseOperation<EditNotes.Request, [Note]> {
    let operation = edit(title, notes)
    return operation.then { [weak self] _ in
      guard let self, let entry = history.entry(of: operation.id) else { return }
      toast = Toast(text: entry.title, entry: entry.id)
    }
  }

  package func undoToast() {
    if let toast { follow(history.undo(toast.entry)) }
  }

  /// Shows what an edit or an undo has changed, or why it has not.
  @discardableResult
  package func follow<Request, Response>(
    _ operation: UseCaseOperation<Request, Response>
  ) -> UseCaseOperation<Request, Response> {
    operation
      .then { [weak self] _ in
        self?.message = nil
        self?.show()
      }
      .catch { [weak self] error in self?.message = String(describing: error) }
  }

  func show() {
    let before = content
    content = file.content
    // The toast goes with its entry.
    let applied = history.entries.filter(\.isApplied).map(\.id)
    if let toast, !applied.contains(toast.entry) { self.toast = nil }
    for id in content.unsent where content.notes[id] != before.notes[id] { send(id) }
  }

  // MARK: - The server

  package private(set) var isOnline = true

  package func status(of id: Note.ID) -> String {
    guard content.unsent.contains(id) else { return "Saved" }
    if !isOnline { return "Offline: kept on this device" }
    return failure(of: id).map { "Not saved: \($0)" } ?? "Saving…"
  }

  /// How many notes could not be sent, also deleted ones.
  package var failed: Int { content.unsent.count { failure(of: $0) != nil } }

  private func failure(of id: Note.ID) -> (any Error)? {
    sending[id].flatMap { $0.isRunning ? nil : $0.error }
  }

  private func send(_ id: Note.ID) {
    let model = sending[id] ?? UseCaseModel(sendNote, cancelsOnRelease: false)
    sending[id] = model
    model.execute(id).then { [weak self] in self?.show() }
  }

  /// Sends now what the server doesn't have.
  package func sendUnsent() {
    for id in content.unsent { send(id) }
    sendNote.lanes.flush(retries: true)
  }

  /// Call this in the background. What it can't send is in the file, and is sent at the next launch.
  package func saveNow() async {
    await history.idle()  // what is typed is in the file now
    sendUnsent()
    await sendNote.lanes.idle()
  }

  /// Holds the sends while there is no network.
  package func watch(_ reachable: AsyncStream<Bool>) async {
    for await isReachable in reachable {
      isOnline = isReachable
      if isReachable {
        sendNote.lanes.resume()
        sendUnsent()
      } else {
        sendNote.lanes.suspend()
      }
    }
  }
}
