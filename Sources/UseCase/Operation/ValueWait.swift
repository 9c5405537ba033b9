import Synchronization

/// The wait of one task for the value of an operation.
@usableFromInline
struct ValueWait: ~Copyable, Sendable {
  let key: Int32
  private let abandoned = Atomic(false)

  init(key: Int32) {
    self.key = key
  }

  /// Whether the awaiting task was cancelled, perhaps when there was no waiter to abandon. To ask
  /// the task costs more than this flag.
  var isAbandoned: Bool { abandoned.load(ordering: .sequentiallyConsistent) }

  /// The awaiting task is cancelled.
  func abandon() { abandoned.store(true, ordering: .sequentiallyConsistent) }
}
