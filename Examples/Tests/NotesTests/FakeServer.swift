import NotesWire
import Synchronization
import UseCase

@testable import notes

/// The port of the use cases with nothing behind it but a dictionary.
final class FakeServer: UseCase {
  private struct State {
    var notes: [Note.ID: Note] = [:]
    var arrived = 0
    var failures: [Int: NotesError] = [:]
    var failure: NotesError?
    /// Answers from this request on are kept back.
    var held = Int.max
    var waiters: [(isReady: @Sendable (State) -> Bool, continuation: Waiter)] = []
  }

  private typealias Waiter = CheckedContinuation<Void, Never>

  private let state = Mutex(State())

  var texts: [String] {
    state.withLock { $0.notes.values.sorted(by: Note.areInOrder).map(\.text) }
  }

  /// Makes all requests fail with this error from now on, or none if it is nil.
  func fail(with error: NotesError?) { state.withLock { $0.failure = error } }

  /// Makes the request with this number, counted from 1, fail with this error.
  func fail(at number: Int, with error: NotesError) {
    state.withLock { $0.failures[number] = error }
  }

  /// Somebody else changes a note, or removes it.
  func change(_ text: String, to new: String?) {
    state.withLock { state in
      guard let note = state.notes.values.first(where: { $0.text == text }) else { return }
      state.notes[note.id] = new.map { Note(id: note.id, created: note.created, text: $0) }
    }
  }

  /// Keeps the answers back from the request with this number on, or from the next one on.
  func hold(at number: Int? = nil) {
    state.withLock { $0.held = number ?? $0.arrived + 1 }
  }

  func release() { update { $0.held = .max } }

  /// Returns when that many requests have arrived since the beginning.
  func arrived(_ count: Int) async { await wait { $0.arrived >= count } }

  func main(_ request: ServerRequest) async throws -> [Note] {
    let number = update { state in
      state.arrived += 1
      return state.arrived
    }
    if let failure = state.withLock({ $0.failures[number] ?? $0.failure }) { throw failure }
    await wait { number < $0.held }
    return try state.withLock { state in try state.notes.answer(request) }
  }

  @discardableResult
  private func update<Result: Sendable>(_ change: @Sendable (inout State) -> Result) -> Result {
    let (result, ready) = state.withLock { state in
      let result = change(&state)
      let now = state
      defer { state.waiters.removeAll { $0.isReady(now) } }
      return (result, state.waiters.filter { $0.isReady(now) }.map(\.continuation))
    }
    for waiter in ready { waiter.resume() }
    return result
  }

  private func wait(until isReady: @escaping @Sendable (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReadyNow = state.withLock { state in
        if isReady(state) { return true }
        state.waiters.append((isReady, continuation))
        return false
      }
      if isReadyNow { continuation.resume() }
    }
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
