import UseCase

/// Sends the newest version of a note when the typing pauses, and after ten seconds of typing at the
/// latest. While the server is away it tries five times, ever more seldom.
package struct SendNote: UseCase {
  let server: Server
  let file: NotesFile
  package let lanes: UseCaseLanes<Note.ID>

  init(server: Server, file: NotesFile, clock: any Clock<Duration>) {
    (self.server, self.file) = (server, file)
    let retry = RetryInterceptor(
      attempts: 5, delay: .exponential(.seconds(1), cap: .seconds(30)),
      when: { error in error as? ServerError == .away })
    lanes = UseCaseLanes(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)), clock: clock,
      interceptors: [retry])
  }

  package func queue(for id: Note.ID) -> UseCaseQueue { lanes[id] }

  package func main(_ id: Note.ID) async throws {
    guard let note = file.content.notes[id] else { return }
    let _: Note = try await server.put("notes/\(id)", note)
    try file.change { content in
      if content.notes[id]?.version == note.version { content.unsent.remove(id) }
    }
  }
}
