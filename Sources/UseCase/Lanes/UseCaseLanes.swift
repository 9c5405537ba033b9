import UseCaseInternals

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
/// while operations are in it, until its last interval or rate window is over, or while you keep a
/// reference to it or to one of its operations. After that, the lane is deallocated: a million keys,
/// used one after the other, leave no memory behind. So `UseCaseLanes(.throttle(.seconds(1)))`
/// throttles each key. A lane that is created again starts afresh: it isn't suspended. To keep a lane
/// suspended, keep a reference to it.
///
/// `UseCaseLanes` is a reference type: copies of a use case share their lanes.
public final class UseCaseLanes<Key: Hashable & Sendable>: Sendable {
  /// The number of the newest lane. The lock is also that of `lanes`: a `Mutex` of a generic type
  /// would cost three look-ups of metadata at each look-up of a lane.
  private let last = Lock(0)
  /// Read and changed only under the lock of `last`.
  @exclusivity(unchecked) nonisolated(unsafe) private var lanes: [Key: Lane] = [:]
  private let make: @Sendable (LaneEnd<Key>) -> UseCaseQueue
  /// Measures the pauses of all lanes, if the policy has any.
  private let timer: PauseTimer?

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
    let timer = policy.pauses ? PauseTimer(clock, keepsWindows: true) : nil
    self.timer = timer
    make = { end in
      UseCaseQueue(
        policy, lane: end, timer: timer, clock: clock, interceptors: interceptors,
        reactions: reactions, observer: observer)
    }
  }

  deinit { timer?.letGo() }

  /// The lane of the key: the same queue for as long as the lane exists.
  ///
  /// Equal keys have one lane. The lanes may hold a lock while they call `==` and `hash(into:)` of
  /// a key, so these must not use the library. A key is released outside of any lock.
  ///
  /// - Parameter key: The value that the requests of one lane share, such as the identity of a
  ///   note.
  public subscript(key: Key) -> UseCaseQueue {
    last.withLock { _ in lanes[key]?.queue } ?? makeLane(of: key)
  }

  private func makeLane(of key: Key) -> UseCaseQueue {
    let number = last.withLock { last in
      last += 1
      return last
    }
    let queue = make(LaneEnd(of: key, number: number, in: self))
    let lane = Lane(queue, number: number)
    return last.withLock { _ in
      // Another thread may have made the lane meanwhile. This queue is not needed then.
      if let other = lanes[key]?.queue { return other }
      lanes[key] = lane
      return queue
    }
  }

  /// The queue of a lane has gone. Another lane may have taken its place already.
  fileprivate func remove(_ key: Key, number: Int) {
    // The key in the table is returned, so that it is released outside of the lock.
    _ = last.withLock { _ -> Key? in
      guard let index = lanes.index(forKey: key), lanes[index].value.number == number
      else { return nil }
      let removed = lanes.remove(at: index).key
      // A dictionary keeps its room. The keys that are left stay alive in the new one.
      if lanes.count < lanes.capacity / 8 { lanes = lanes.filter { _ in true } }
      return removed
    }
  }

  /// How many lanes exist.
  public var count: Int { last.withLock { _ in lanes.count } }

  /// How many lanes there is room for.
  var capacity: Int { last.withLock { _ in lanes.capacity } }

  /// All lanes, in the order in which they were made.
  private var all: [UseCaseQueue] {
    let all = last.withLock { _ in Array(lanes.values) }
    return all.sorted { $0.number < $1.number }.compactMap(\.queue)
  }

  /// Cancels all operations of all lanes, for the reason ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations, and O(*m* log *m*) in the number of lanes.
  public func cancelAll() {
    for lane in all { lane.cancelAll() }
  }

  /// Ends the pauses of the operations that wait now in any lane, as ``UseCaseQueue/flush()`` does.
  ///
  /// - Complexity: O(*n*) in the number of operations that start, and O(*m* log *m*) in the number of
  ///   lanes.
  public func flush() {
    for lane in all { lane.flush() }
  }

  /// Waits until no operation runs or waits in any lane.
  ///
  /// Returns at once if all lanes are idle already. The cancellation of the awaiting task changes
  /// nothing.
  ///
  /// Don't await `idle()` in the body of an operation on one of the lanes: it would never return.
  nonisolated(nonsending) public func idle() async {
    repeat {
      for lane in all.filter(\.isBusy) { await lane.idle() }
    } while !isIdle
  }

  /// Whether there is a moment in which all lanes are idle: none has been busy, or was made, while
  /// the others were asked.
  private var isIdle: Bool {
    let number = last.withLock { $0 }
    let lanes = all
    let first = lanes.map(\.activity)
    return first.allSatisfy(\.isIdle) && first == lanes.map(\.activity)
      && number == last.withLock { $0 }
  }
}

/// The queue of a key, as long as somebody keeps it.
private final class Lane: Sendable {
  weak let queue: UseCaseQueue?
  let number: Int

  init(_ queue: UseCaseQueue, number: Int) {
    self.queue = queue
    self.number = number
  }
}

/// Takes a lane out of its table at the end of the queue, which alone keeps this.
private final class LaneEnd<Key: Hashable & Sendable>: Sendable {
  private let key: Key
  private let number: Int
  private weak let lanes: UseCaseLanes<Key>?

  init(of key: Key, number: Int, in lanes: UseCaseLanes<Key>) {
    self.key = key
    self.number = number
    self.lanes = lanes
  }

  deinit { lanes?.remove(key, number: number) }
}
