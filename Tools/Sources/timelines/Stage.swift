import Synchronization
import UseCase

/// A world in which nothing happens by chance: a clock that moves only when everything that can
/// happen at this time has happened, and what the operations on it have been through.
///
/// Bodies do nothing but sleep on this clock. So the observer of the queue knows of each operation
/// whether it has to be asleep by now, and the world has come to rest when all that have to are. For
/// what pauses the timer of the queue has to be asleep, until the pause is over.
final class Stage: Clock, Sendable {
  /// The lane of the operation that this code runs for. A task sees what was current at `execute`.
  /// The timer of the queue runs for none.
  @TaskLocal static var lane = noLane
  private static let noLane = -1

  /// The pauses of the queue, in ticks.
  struct Pause: Sendable {
    var debounce = 0
    /// How long a debounce may last, from the first operation that has come since the last start.
    var longest = 1_000
    /// So many operations start in an interval.
    var starts = 1
    var interval = 0
  }

  struct Instant: InstantProtocol {
    let offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State {
    let pause: Pause?
    weak var queue: UseCaseQueue?
    var now = Instant(offset: .zero)
    var lanes: [Timeline.Lane] = []
    var shown: [String] = []
    var ids: [UseCaseOperationID] = []
    /// The request of the next operation.
    var next = ""
    /// By lane; those of the timer have negative keys, each its own.
    var sleepers: [Int: Sleeper] = [:]
    var timers = 0
    var watcher: UnsafeContinuation<Void, Never>?

    /// An operation that has its slot is heard to run a moment later, so the queue is asked as
    /// well.
    var isAtRest: Bool {
      let waiting = lanes.count { $0.moments.last?.kind == .waiting }
      return waiting == queue?.activity.waiting
        && lanes.indices.allSatisfy { lane in
          switch lanes[lane].moments.last?.kind {
          case .ended: true
          case .waiting: pause.map(isTimed) ?? true
          case .running: sleepers[lane] != nil
          // It unwinds, or is about to end. One that never ran has nothing to unwind.
          case .cancelled: lanes[lane].hasRun && sleepers[lane] != nil
          case .succeeded, .failed, nil: false
          }
        }
    }

    /// Whether the timer sleeps until the pause is over. Then a lane may still wait for the slot of
    /// the one that runs.
    private func isTimed(_ pause: Pause) -> Bool {
      let tick = end(of: pause)
      let timers = sleepers.filter { $0.key < 0 }.map {
        Timeline.tick(at: $0.value.deadline.offset)
      }
      let isRunning = lanes.contains { $0.moments.last?.kind == .running }
      return tick <= Timeline.tick(at: now.offset) && isRunning || timers == [tick]
    }

    /// The end of the pause of what waits.
    private func end(of pause: Pause) -> Int {
      let starts = lanes.flatMap(\.moments).filter { $0.kind == .running }.map(\.tick).sorted()
      let window = starts.dropLast(pause.starts - 1).last.map { $0 + pause.interval }
      guard pause.debounce > 0, let last = lanes.last?.executed else { return window ?? 0 }
      let first = lanes.map(\.executed).first { $0 >= starts.last ?? 0 } ?? last
      return max(min(last + pause.debounce, first + pause.longest), window ?? 0)
    }

    mutating func takeWatcher() -> UnsafeContinuation<Void, Never>? {
      isAtRest ? watcher.take() : nil
    }
  }

  private let state: Mutex<State>

  /// Creates a world at the time zero. With a pause, the timer sleeps while operations wait.
  init(pause: Pause?) {
    state = Mutex(State(pause: pause))
  }

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }
  var lanes: [Timeline.Lane] { state.withLock { $0.lanes } }

  /// The responses that the handlers received, in this order.
  var shown: [String] { state.withLock { $0.shown } }

  /// The queue whose operations are on the stage.
  func attach(_ queue: UseCaseQueue) {
    change { $0.queue = queue }
  }

  /// Notes the request of the operation that is about to be executed.
  func prepare(_ request: String) {
    change { $0.next = request }
  }

  /// Notes that a handler received a response.
  func show(_ response: String) {
    change { $0.shown.append(response) }
  }

  /// Hears what happens to the operations. An operation is superseded within the `execute` of the
  /// one that supersedes it, whose lane is the current one there.
  func observe(_ event: UseCaseEvent) {
    change { state in
      // The first that is heard of an operation comes from its `execute`, and those are in order.
      let lane = state.ids.firstIndex(of: event.id) ?? state.ids.count
      if lane == state.ids.count {
        state.ids.append(event.id)
        state.lanes.append(Timeline.Lane(text: state.next, pauses: state.pause != nil))
      }
      let moment = Timeline.Moment(tick: Timeline.tick(at: state.now.offset), kind: event.kind)
      state.lanes[lane].moments.append(moment)
      if event.kind == .cancelled(.superseded) { state.lanes[lane].superseder = Self.lane }
    }
  }

  /// Moves the clock, stopping for each sleeper on the way, and returns when all is at rest.
  func advance(to end: Instant?) async {
    await rest()
    while wakeFirst(until: end) { await rest() }
    guard let end else { return }
    change { $0.now = end }
  }

  /// Returns when everything that can happen at this time has happened.
  func rest() async {
    await withUnsafeContinuation { watcher in
      change { $0.watcher = watcher }
    }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let lane = Self.lane == Self.noLane ? nextTimer() : Self.lane
    let isOver = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        change { $0.sleepers[lane] = Sleeper(deadline: deadline, continuation: continuation) }
        // A cancellation that came before found nobody to wake.
        if Task.isCancelled { wake(lane, isOver: false) }
      }
    } onCancel: {
      wake(lane, isOver: false)
    }
    guard isOver else { throw CancellationError() }
  }

  private func nextTimer() -> Int {
    change { state in
      state.timers += 1
      return -state.timers
    }
  }

  /// Of those who wake at the same time the one with the lowest lane comes first.
  private func wakeFirst(until end: Instant?) -> Bool {
    let first = state.withLock { state in
      let first = state.sleepers.min { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
      guard let first, end.map({ first.value.deadline <= $0 }) ?? true else { return Int?.none }
      state.now = first.value.deadline
      return first.key
    }
    guard let first else { return false }
    wake(first, isOver: true)
    return true
  }

  private func wake(_ lane: Int, isOver: Bool) {
    change { $0.sleepers.removeValue(forKey: lane) }?.continuation.resume(returning: isOver)
  }

  @discardableResult
  private func change<Result: Sendable>(_ body: (inout State) -> sending Result) -> Result {
    let (result, watcher) = state.withLock { state in
      let result = body(&state)
      return (result, state.takeWatcher())
    }
    watcher?.resume()
    return result
  }
}
