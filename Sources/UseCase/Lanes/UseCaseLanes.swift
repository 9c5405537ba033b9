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
  private struct Table: Sendable {
    var lanes: [Key: Lane<Key>] = [:]
    /// How many lanes were put in the table.
    var made = 0
    /// The counts of the lanes that are gone.
    var gone = UseCaseActivity()
  }

  private let table = Lock(Table())
  private let switches = LaneSwitches()
  private let make: @Sendable (Lane<Key>) -> UseCaseQueue
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
    make = { lane in
      UseCaseQueue(
        policy, lane: lane, timer: timer, clock: clock, interceptors: interceptors,
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
    table.withLock { $0.lanes[key]?.queue } ?? makeLane(of: key)
  }

  private func makeLane(of key: Key) -> UseCaseQueue {
    let number = table.withLock { $0.made + 1 }
    let lane = Lane(of: key, number: number, in: self, switches)
    let queue = make(lane)
    lane.follow(queue)
    let (newest, old) = table.withLock { table -> (UseCaseQueue, Lane<Key>?) in
      // Another thread may have made the lane meanwhile. This queue is not needed then.
      if let other = table.lanes[key]?.queue { return (other, nil) }
      // A lane whose queue is about to go is counted here.
      table.made += 1
      let old = table.lanes.updateValue(lane, forKey: key)
      if let old { table.gone = table.gone + old.rested }
      return (queue, old)
    }
    withExtendedLifetime(old) {}
    return newest
  }

  /// The queue of a lane has gone. Another lane may have taken its place already.
  fileprivate func remove(_ lane: Lane<Key>) {
    // The key in the table is returned, so that it is released outside of the lock.
    _ = table.withLock { table -> (Key, Lane<Key>)? in
      guard let index = table.lanes.index(forKey: lane.key), table.lanes[index].value === lane
      else { return nil }
      table.gone = table.gone + lane.rested
      let removed = table.lanes.remove(at: index)
      // A dictionary keeps its room, and a filter that keeps everything keeps it, too.
      if table.lanes.count < table.lanes.capacity / 8 {
        table.lanes = Dictionary(uniqueKeysWithValues: table.lanes.lazy.map { ($0, $1) })
      }
      return (removed.key, removed.value)
    }
  }

  /// How many lanes exist.
  public var count: Int { table.withLock { $0.lanes.count } }

  /// How many lanes there is room for.
  var capacity: Int { table.withLock { $0.lanes.capacity } }

  /// All lanes, in the order in which they were made. Some that were made at once come in any order.
  private var all: [UseCaseQueue] {
    let all = table.withLock { Array($0.lanes.values) }
    return all.sorted { $0.number < $1.number }.compactMap(\.queue)
  }

  /// The counts of all lanes since the start, including the lanes that are gone.
  ///
  /// - Complexity: O(*n*) in the number of lanes.
  public var activity: UseCaseActivity {
    let (gone, lanes) = table.withLock { ($0.gone, Array($0.lanes.values)) }
    return lanes.reduce(gone) { $0 + ($1.queue?.activity ?? $1.rested) }
  }

  /// Whether all lanes are suspended, also those that come.
  public var isSuspended: Bool { switches.isSuspended }

  /// Keeps the operations of all lanes from starting until ``resume()``, also of the lanes that come.
  ///
  /// A lane that is suspended by itself stays suspended after that.
  public func suspend() { turn { $0.isSuspended = true } }

  /// Starts the operations that may start, in the lanes that aren't suspended by themselves.
  ///
  /// - Complexity: O(*n*) in the number of operations that start, and O(*m* log *m*) in the number of
  ///   lanes.
  public func resume() { turn { $0.isSuspended = false } }

  /// Whether all lanes are closed, also those that come.
  public var isClosed: Bool { switches.isClosed }

  /// Refuses all operations that come from now on, in all lanes, as ``UseCaseQueue/close()`` does.
  ///
  /// - Complexity: O(*m* log *m*) in the number of lanes.
  public func close() { turn { $0.isClosed = true } }

  private func turn(_ turn: (LaneSwitches) -> Void) {
    turn(switches)
    for lane in all { lane.wake() }
  }

  /// Cancels all operations of all lanes, for the reason ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations, and O(*m* log *m*) in the number of lanes.
  public func cancelAll() {
    for lane in all { lane.cancelAll() }
  }

  /// Ends the pauses of the operations that wait now in any lane, as ``UseCaseQueue/flush(retries:)``
  /// does.
  ///
  /// - Parameter retries: Whether the pauses between retries end, too.
  /// - Complexity: O(*n*) in the number of operations that start, and O(*m* log *m*) in the number of
  ///   lanes.
  public func flush(retries: Bool = false) {
    for lane in all { lane.flush(retries: retries) }
  }

  /// Waits until nothing is in any lane any more, as ``UseCaseQueue/idle()`` does.
  ///
  /// Returns at once if there is nothing to wait for. The cancellation of the awaiting task changes
  /// nothing.
  ///
  /// Don't await `idle()` in the body of an operation on one of the lanes: it would never return.
  nonisolated(nonsending) public func idle() async {
    repeat {
      for lane in all where !lane.isAtRest { await lane.idle() }
    } while !isAtRest
  }

  /// Whether there is a moment in which all lanes are idle: none has been busy, or was made, while
  /// the others were asked.
  private var isAtRest: Bool {
    let made = table.withLock { $0.made }
    let lanes = all
    let first = lanes.map(\.activity)
    return lanes.allSatisfy(\.isAtRest) && first == lanes.map(\.activity)
      && made == table.withLock { $0.made }
  }
}

/// Whether all lanes are suspended or closed.
private final class LaneSwitches: Sendable {
  private let values = Lock((isSuspended: false, isClosed: false))

  var isSuspended: Bool {
    get { values.withLock { $0.isSuspended } }
    set { values.withLock { $0.isSuspended = newValue } }
  }

  var isClosed: Bool {
    get { values.withLock { $0.isClosed } }
    set { values.withLock { $0.isClosed = newValue } }
  }
}

/// The lane of a key, as long as somebody keeps its queue, which keeps this.
private final class Lane<Key: Hashable & Sendable>: QueueLane {
  private struct State: Sendable {
    weak var queue: UseCaseQueue?
    var rested = UseCaseActivity()
  }

  let key: Key
  let number: Int
  private weak let lanes: UseCaseLanes<Key>?
  private let switches: LaneSwitches
  private let state = Lock(State())

  init(of key: Key, number: Int, in lanes: UseCaseLanes<Key>, _ switches: LaneSwitches) {
    self.key = key
    self.number = number
    self.lanes = lanes
    self.switches = switches
  }

  func follow(_ queue: UseCaseQueue) { state.withLock { $0.queue = queue } }

  var queue: UseCaseQueue? { state.withLock { $0.queue } }

  /// The counts of the queue when it was last empty.
  var rested: UseCaseActivity { state.withLock { $0.rested } }

  var isSuspended: Bool { switches.isSuspended }
  var isClosed: Bool { switches.isClosed }

  func rest(_ activity: UseCaseActivity) { state.withLock { $0.rested = activity } }

  func end() { lanes?.remove(self) }
}
