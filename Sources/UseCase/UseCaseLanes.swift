/// A queue, or *lane*, for each key. For example, if each note has a lane, two saves of one note
/// never overlap, and different notes are saved at the same time.
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
/// Each lane is a ``UseCaseQueue`` of its own, and lanes never affect each other. A lane exists
/// while operations are in it, or you keep a reference to it or to one of its operations. After
/// that, the lane is deallocated: a million keys, used one after the other, leave no memory behind.
/// A lane that is created again starts afresh: it isn't suspended, and its throttle interval starts
/// anew. To keep a lane suspended, or to keep its throttle interval, keep a reference to the lane.
///
/// `UseCaseLanes` is a reference type: copies of a use case share their lanes.
public final class UseCaseLanes<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let queues = KeyedQueues<Key>()
  private let make: @Sendable (LaneKey<Key>) -> UseCaseQueue

  /// Creates an empty set of lanes. Each lane is created on first use, as a queue with these
  /// parameters.
  ///
  /// - Parameters:
  ///   - policy: How many operations of one lane run at a time, and what happens to further
  ///     operations.
  ///   - clock: Measures debounce, throttle and timeouts. Give your own in a test.
  ///   - interceptors: Wrapped around every body, the first outermost.
  ///   - reactions: Attach handlers to every operation of every lane.
  ///   - observer: Receives the events of all lanes, as the observer of a ``UseCaseQueue`` does.
  public init(
    _ policy: UseCaseQueue.Policy = .serial, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    make = { key in
      UseCaseQueue(
        policy, lane: key, clock: clock, interceptors: interceptors, reactions: reactions,
        observer: observer)
    }
  }

  /// The lane of the key: the same queue for as long as the lane exists.
  ///
  /// Equal keys have one lane. The lanes hold no lock while they compare keys, so the `==` of a key
  /// can itself access the lanes.
  ///
  /// - Parameter key: The value that the requests of one lane share, such as the identity of a
  ///   note.
  @inlinable public subscript(key: Key) -> UseCaseQueue { queues[key] ?? lane(for: key) }

  @usableFromInline @inline(never)
  func lane(for key: Key) -> UseCaseQueue { queues.queue(for: key, make: make) }

  /// How many lanes exist.
  public var count: Int { queues.store.count }

  /// Cancels all operations of all lanes, for the reason ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations, and O(*m* log *m*) in the number of lanes.
  public func cancelAll() {
    for lane in queues.all { lane.cancelAll() }
  }

  /// Ends the pauses of the operations that wait now in any lane, as ``UseCaseQueue/flush()`` does.
  ///
  /// - Complexity: O(*n*) in the number of operations that start, and O(*m* log *m*) in the number of
  ///   lanes.
  public func flush() {
    for lane in queues.all { lane.flush() }
  }

  /// Waits until no operation runs or waits in any lane.
  ///
  /// Returns at once if all lanes are idle already. The cancellation of the awaiting task changes
  /// nothing.
  ///
  /// Don't await `idle()` in the body of an operation on one of the lanes: it would never return.
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
