import UseCaseInternals

/// Measures the pauses of one queue, and wakes the queue at their ends: one task sleeps at most.
final class PauseTimer: Sendable {
  private let stopwatch: Stopwatch
  /// The newest alarm, and the task that sleeps until then.
  private let current = Lock<(number: Int, task: Task<Void, Never>?)>((0, nil))

  init(_ clock: any Clock<Duration>) {
    stopwatch = Stopwatch(clock)
  }

  var now: Duration { stopwatch.elapsed() }

  /// Wakes the queue at the time of the alarm, and not at that of an earlier alarm.
  func set(_ alarm: QueueAlarm, _ wake: @escaping @Sendable (_ time: Duration) -> Void) {
    let task = alarm.time.map { time in
      // A detached task keeps nothing of the code that executes.
      Task.detached { [stopwatch] in
        do {
          try await stopwatch.sleep(time) { wake(time) }
        } catch {
          // A clock that cannot sleep must not keep an operation waiting for ever.
          if !Task.isCancelled { wake(time) }
        }
      }
    }
    let old = current.withLock { current in
      // Another thread may have set a newer alarm meanwhile.
      guard alarm.number > current.number else { return task }
      defer { current = (alarm.number, task) }
      return current.task
    }
    old?.cancel()
  }
}
