import UseCase
import UseCaseHistory

/// Changes one note or several at once, in the file of this device: it needs no server, and neither
/// does its undo. To make a note is to change one that is deleted.
package struct EditNotes: JournaledUseCase {
  package struct Request: Codable, Sendable {
    package let title: String
    package let notes: [Note]
    var isTyping = false
  }

  package static let journalName = "edit notes"
  let file: NotesFile

  /// Returns the notes as they were.
  package func main(_ request: Request) async throws -> [Note] {
    try put(request.notes, isUndo: false)
  }

  package func undo(_ request: Request, _ old: [Note]) async throws {
    _ = try put(old, isUndo: true)
  }

  package func title(for request: Request) -> String { request.title }

  package func footprint(of request: Request) -> HistoryFootprint? {
    .keys(request.notes.map(\.id))
  }

  package func merge(
    _ earlier: (request: Request, response: [Note]), _ later: (request: Request, response: [Note])
  ) -> HistoryMerge<Request, [Note]> {
    guard earlier.request.isTyping, later.request.isTyping,
      earlier.request.notes.map(\.id) == later.request.notes.map(\.id)
    else { return .separate }
    let (title, notes) = (earlier.request.title, later.request.notes)
    return .merged(Request(title: title, notes: notes, isTyping: true), earlier.response)
  }

  /// The file says which step it has, so a kill leaves no doubt.
  package func settle(
    _ doubt: HistoryDoubt<Request, [Note]>
  ) async throws -> HistorySettlement<[Note]> {
    let isUndo = if case .undo = doubt { true } else { false }
    guard let step = file.content.newestStep, step.entry == .current, step.isUndo == isUndo
    else { return .hadNoEffect }
    return .hadEffect(step.old)
  }

  private func put(_ notes: [Note], isUndo: Bool) throws -> [Note] {
    guard let entry = HistoryEntry.ID.current else { fatalError("Record this use case.") }
    return try file.change { content in
      let old = notes.map { content.notes[$0.id] ?? Note(id: $0.id, isDeleted: true) }
      for (var note, old) in zip(notes, old) {
        note.version = old.version + 1
        content.notes[note.id] = note
        content.unsent.insert(note.id)
      }
      content.newestStep = NotesFile.Step(entry: entry, isUndo: isUndo, old: old)
      return old
    }
  }
}
