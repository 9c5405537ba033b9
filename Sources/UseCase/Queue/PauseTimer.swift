import UseCaseInternals

/// Wakes a queue, or all lanes, at the ends of their pauses: one task sleeps at most.
final class PauseTimer: Sendable {
  private struct Alarm: Comparable, Sendable {
    let time: Duration
    let queue: ObjectIdentifier

    static func < (lhs: Self, rhs: Self) -> Bool {
      lhs.time == rhs.time ? lhs.queue < rhs.queue : lhs.time < rhs.time
    }
  }

  private struct Sleeper: Sendable {
    /// Each keeps its queue, so a lane stays until its last interval is over.
    var alarms = MemberLine<Alarm, UseCaseQueue>()
    /// The task that sleeps, and until when.
    var task: Task<Void, Never>?
    var time: Duration?
    /// Whether a queue is kept until its last interval is over.
    var keepsWindows: Bool
  }

  private let stopwatch: Stopwatch
  private let sleeper: Lock<Sleeper>

  init(_ clock: any Clock<Duration>, keepsWindows: Bool = false) {
    stopwatch = Stopwatch(clock)
    sleeper = Lock(Sleeper(keepsWindows: keepsWindows))
  }

  var now: Duration { stopwatch.elapsed() }

  /// Sets the alarm of a queue that has changed. `next` takes the lock of the queue, inside the one of
  /// the timer: so an older change never overwrites a newer one.
  func set(_ queue: UseCaseQueue, _ next: (_ keepsWindow: Bool) -> QueueAlarm?) {
    let old = sleeper.withLock { sleeper -> (UseCaseQueue?, Task<Void, Never>?) in
      guard let alarm = next(sleeper.keepsWindows) else { return (nil, nil) }
      let id = ObjectIdentifier(queue)
      let old = alarm.old.flatMap { sleeper.alarms.remove(Alarm(time: $0, queue: id)) }
      if let time = alarm.time { sleeper.alarms.insert(queue, Alarm(time: time, queue: id)) }
      return (old, follow(&sleeper))
    }
    old.1?.cancel()
  }

  /// Makes the task sleep until the first alarm. Returns one that is to be cancelled.
  private func follow(_ sleeper: inout Sleeper) -> Task<Void, Never>? {
    let time = sleeper.alarms.firstID?.time
    guard time != sleeper.time else { return nil }
    let old = sleeper.task
    // A detached task keeps nothing of the code that executes.
    sleeper.task = time.map { time in Task.detached { await self.sleep(until: time) } }
    sleeper.time = time
    return old
  }

  private func sleep(until time: Duration) async {
    do {
      try await stopwatch.sleep(time) { wake(at: time) }
    } catch {
      // A clock that cannot sleep must not keep an operation waiting for ever.
      if !Task.isCancelled { wake(at: time) }
    }
  }

  /// A clock may wake early, or stand still: the time has come in any case.
  private func wake(at time: Duration) {
    let now = max(now, time)
    let due = sleeper.withLock { sleeper in
      var due: [UseCaseQueue] = []
      while let first = sleeper.alarms.firstID, first.time <= now,
        let queue = sleeper.alarms.remove(first)
      {
        due.append(queue)
      }
      // From now on, nobody cancels this task.
      if sleeper.time == time { (sleeper.task, sleeper.time) = (nil, nil) }
      return due
    }
    for queue in due { queue.wake(at: now) }
    sleeper.withLock { follow(&$0) }?.cancel()
  }

  /// Lets go of each lane in which nothing waits: nobody will find it.
  func letGo() {
    let queues = sleeper.withLock { sleeper in
      sleeper.keepsWindows = false
      return sleeper.alarms.members
    }
    for queue in queues { queue.setTimer() }
  }
}
