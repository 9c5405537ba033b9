/// A queue for each key: of one note the newest save wins, and two notes are saved side by side.
///
/// ```swift
/// struct SaveNote: UseCase {
///   let save: @Sendable (Note) async throws -> Void
///   let lanes = UseCaseLanes<Note.ID>(.keepLatest)
///
///   func queue(for note: Note) -> UseCaseQueue { lanes[note.id] }
///   func main(_ note: Note) async throws { try await save(note) }
/// }
/// ```
///
/// Each lane is a queue in every respect, and lanes never affect each other. A lane stays while
/// something is in it or somebody holds it, and then goes: a million keys, used one after the other,
/// leave nothing. A lane that has gone remembers nothing, neither that it was suspended nor when its
/// last operation started: hold one that has to remember.
///
/// Lanes are a reference: copies of a use case share them.
public final class UseCaseLanes<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let queues = KeyedQueues<Key>()
  private let make: @Sendable (LaneEnd<Key>) -> UseCaseQueue

  /// Creates lanes, of which none exists yet. Each will be a queue with these parameters.
  ///
  /// - Parameters:
  ///   - policy: How many operations of one lane run at a time, and what happens to the others.
  ///   - clock: Measures debounce and timeouts. Give your own in a test.
  ///   - interceptors: Wrapped around every body, the first outermost.
  ///   - reactions: Attach handlers to the operations of all lanes, whoever executes them.
  ///   - observer: Receives the events of all lanes, as that of a queue does.
  public init(
    _ policy: UseCaseQueue.Policy = .serial, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    make = { end in
      UseCaseQueue(
        policy, clock: clock, interceptors: interceptors, reactions: reactions, observer: observer,
        lane: end)
    }
  }

  /// The lane of the key: the same queue for as long as something is in it or somebody holds it.
  ///
  /// Equal keys have one lane. The key is compared outside of any lock.
  ///
  /// - Parameter key: What the requests of one lane have in common, such as the identity of a note.
  @inlinable public subscript(key: Key) -> UseCaseQueue { queues[key] ?? lane(for: key) }

  @usableFromInline @inline(never)
  func lane(for key: Key) -> UseCaseQueue { queues.queue(for: key, make: make) }

  /// How many lanes exist.
  public var count: Int { queues.store.count }

  /// Cancels all operations of all lanes, as ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations, and O(*m* log *m*) in that of lanes.
  public func cancelAll() {
    for lane in queues.all { lane.cancelAll() }
  }

  /// Returns when nothing runs and nothing waits in any lane, at once if that is so now. The
  /// cancellation of the awaiting task changes nothing.
  ///
  /// A body on one of the lanes that awaits this waits for ever.
  nonisolated(nonsending) public func idle() async {
    repeat {
      for lane in queues.all.filter(\.isBusy) { await lane.idle() }
    } while !isIdle
  }

  /// Whether there is a moment in which all lanes are idle: none has been busy, or was made, while
  /// the others were asked.
  private var isIdle: Bool {
    let last = queues.store.last
    let lanes = queues.all
    let first = lanes.map(\.activity)
    return first.allSatisfy(\.isIdle) && first == lanes.map(\.activity) && last == queues.store.last
  }
}
