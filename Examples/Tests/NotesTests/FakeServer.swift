import Foundation
import NotesWire
import Synchronization
import UseCase

@testable import notes

/// The port of the use cases with nothing behind it but a dictionary.
final class FakeServer: UseCase {
  private struct State {
    var notes: [Note.ID: Note] = [:]
    var requests: [ServerRequest] = []
    var failures: [Int: NotesError] = [:]
    var failure: NotesError?
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
    var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var texts: [String] {
    state.withLock { $0.notes.values.sorted(by: Note.areInOrder).map(\.text) }
  }

  var requests: [ServerRequest] { state.withLock { $0.requests } }

  /// What all requests fail with from now on; nil for none.
  func fail(with error: NotesError?) { state.withLock { $0.failure = error } }

  /// What the request with this number fails with, counted from 1.
  func fail(at number: Int, with error: NotesError) {
    state.withLock { $0.failures[number] = error }
  }

  /// Somebody else changes a note.
  func change(_ text: String, to new: String?) {
    state.withLock { state in
      guard let note = state.notes.values.first(where: { $0.text == text }) else { return }
      state.notes[note.id] = new.map { Note(id: note.id, created: note.created, text: $0) }
    }
  }

  /// Keeps the answers back, from the next request on.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let held = state.withLock { state in
      state.isHeld = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Returns when that many requests have arrived since the beginning.
  func arrived(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.arrivals.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func main(_ request: ServerRequest) async throws -> [Note] {
    let (failure, arrivals) = state.withLock { state in
      state.requests.append(request)
      let count = state.requests.count
      defer { state.arrivals.removeAll { $0.count <= count } }
      let arrivals = state.arrivals.filter { $0.count <= count }
      return (state.failures[count] ?? state.failure, arrivals)
    }
    for arrival in arrivals { arrival.continuation.resume() }
    if let failure { throw failure }
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return state.isHeld
      }
      if !isHeld { continuation.resume() }
    }
    return try state.withLock { try $0.notes.answer(request) }
  }
}

extension [Note.ID: Note] {
  fileprivate mutating func answer(_ request: ServerRequest) throws -> [Note] {
    switch request {
    case .list: return values.sorted(by: Note.areInOrder)
    case .get(let id):
      guard let note = self[id] else { throw NotesError.notFound(id) }
      return [note]
    case .put(let note, let old):
      guard self[note.id] == old || self[note.id] == note else { throw NotesError.changed }
      self[note.id] = note
      return [note]
    case .delete(let note):
      guard self[note.id] == note || self[note.id] == nil else { throw NotesError.changed }
      self[note.id] = nil
      return []
    }
  }
}
