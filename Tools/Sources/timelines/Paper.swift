import Synchronization

/// The document of the undo pool.
final class Paper: Sendable {
  private let state = Mutex((refuses: false, discarded: [String]()))

  /// Whether what is written now, or undone, fails.
  var refuses: Bool {
    get { state.withLock { $0.refuses } }
    set { state.withLock { $0.refuses = newValue } }
  }

  func accept() throws {
    if refuses { throw Refusal() }
  }

  func discard(_ letter: String) {
    state.withLock { $0.discarded.append(letter) }
  }

  /// Returns what was discarded since the last call.
  func takeDiscarded() -> [String] {
    state.withLock { state in
      defer { state.discarded = [] }
      return state.discarded
    }
  }
}
