import NotesWire
import UseCase

/// A request to the server. Each can be sent again when its answer was lost.
enum ServerRequest: Hashable, Sendable {
  case list
  case get(Note.ID)
  /// Puts the note in the place of another content of it, nil if there must be none.
  case put(Note, over: Note?)
  case delete(Note)
}

enum NotesError: Error, Hashable {
  /// There is no network, or `--offline`.
  case offline
  /// Nobody answers there, or the connection was lost.
  case unreachable
  case busy
  case notLoggedIn
  case notFound(String)
  /// Several notes are meant.
  case ambiguous(String)
  /// The note is not what the client believes: somebody else has changed it.
  case changed
  case refused(status: Int, words: String)

  /// Whether another attempt may help.
  var isTransient: Bool { self == .unreachable || self == .busy }
}

/// The notes on the server, and what is known of them here: what the use cases share.
struct Notebook: Sendable {
  /// The port to the outside: in a test it is a fake.
  let server: any UseCase<ServerRequest, [Note]>
  let cache: NotesCache

  func list() async throws -> [Note] {
    let notes = try await server(.list)
    cache.notes = notes
    return notes
  }

  func get(_ id: Note.ID) async throws -> Note {
    let notes = try await server(.get(id))
    guard let note = notes.first else { throw NotesError.notFound(id) }
    cache.set(id, to: note)
    return note
  }

  /// Returns the note, nil if there is none.
  func find(_ id: Note.ID) async throws -> Note? {
    do {
      return try await get(id)
    } catch NotesError.notFound {
      return nil
    }
  }

  /// Makes the note `new` of `old`; nil is no note, before or after.
  ///
  /// A change that has been sent is not cancelled: otherwise nobody would know whether it was made,
  /// and it could not be undone.
  func change(_ old: Note?, to new: Note?) async throws {
    try Task.checkCancellation()
    let request: ServerRequest? =
      switch (old, new) {
      case (let old, let new?): .put(new, over: old)
      case (let old?, nil): .delete(old)
      case (nil, nil): nil
      }
    guard let request, let id = (new ?? old)?.id else { return }
    _ = try await server.execute(request).ended().get()
    cache.set(id, to: new)
  }

  /// Finds the note whose id begins with `prefix`: here, or else on the server.
  func id(_ prefix: String) async throws -> Note.ID {
    guard Note.isValid(id: prefix) else { throw NotesError.notFound(prefix) }
    let known = cache.ids(prefix)
    if known.count == 1 { return known[0] }
    _ = try await list()
    let ids = cache.ids(prefix)
    guard ids.count <= 1 else { throw NotesError.ambiguous(prefix) }
    guard let id = ids.first else { throw NotesError.notFound(prefix) }
    return id
  }
}
