/// The tasks that sleep, and the tasks that are due. Times are counted from the creation of the
/// clock.
///
/// Tasks that are due stand in a line, each advance behind the tasks that it has reached. The head
/// of the line has been resumed. When it runs, it leaves the line, and the next task is resumed. So
/// the order is kept, and each advance learns of its end, without a task of its own.
struct ClockMachine {
  private enum Due {
    case alarm(Promise<Bool>)
    case end(Promise<Void>)
  }

  /// A state of the clock that a task waits for.
  enum Wanted {
    /// At least so many tasks sleep.
    case sleepers(Int)

    /// A task sleeps that is due in exactly this time from now.
    case sleep(Duration)
  }

  /// The promises to fulfil once the lock is released, in this order.
  struct Reached {
    var watchers: [Promise<Void?>] = []
    var ends: [Promise<Void>] = []
    var alarm: Promise<Bool>?
  }

  private(set) var now = Duration.zero

  /// The earliest deadline first, and of equal deadlines the earliest sleep first.
  private(set) var asleep: [(deadline: Duration, alarm: Promise<Bool>)] = []
  private(set) var sleepsBegun = 0
  private var line: [Due] = []
  private var watchers: [(wanted: Wanted, promise: Promise<Void?>)] = []

  /// Returns at once if the clock is in the state, or keeps the watcher and returns `nil`.
  mutating func watch(for wanted: Wanted, _ watcher: Promise<Void?>) -> Void? {
    if isReached(wanted) { return () }
    watchers.append((wanted, watcher))
    return nil
  }

  /// Returns whether the watcher was there.
  mutating func remove(_ watcher: Promise<Void?>) -> Bool {
    guard let index = watchers.firstIndex(where: { $0.promise === watcher }) else { return false }
    watchers.remove(at: index)
    return true
  }

  /// Returns `true` if the deadline is not in the future. Otherwise keeps the alarm.
  mutating func sleep(
    until deadline: Duration, _ alarm: Promise<Bool>
  ) -> (isDue: Bool?, reached: Reached) {
    guard now < deadline else { return (true, Reached()) }
    let index = asleep.firstIndex { deadline < $0.deadline } ?? asleep.endIndex
    asleep.insert((deadline, alarm), at: index)
    sleepsBegun += 1
    return (nil, Reached(watchers: takeWatchers()))
  }

  /// Returns whether the alarm was set. An alarm that is due stays due.
  mutating func cancel(_ alarm: Promise<Bool>) -> Bool {
    guard let index = asleep.firstIndex(where: { $0.alarm === alarm }) else { return false }
    asleep.remove(at: index)
    return true
  }

  mutating func advance(
    by duration: Duration, _ end: Promise<Void>
  ) -> Reached {
    now += duration
    let due = asleep.prefix { $0.deadline <= now }
    asleep.removeFirst(due.count)
    let isMoving = !line.isEmpty
    line += due.map { .alarm($0.alarm) } + [.end(end)]
    var reached = isMoving ? Reached() : move()
    reached.watchers = takeWatchers()
    return reached
  }

  /// The task at the head of the line runs.
  mutating func awake() -> Reached {
    line.removeFirst()
    return move()
  }

  /// Takes the ends at the head of the line, up to the first alarm. This alarm stays.
  private mutating func move() -> Reached {
    var reached = Reached()
    while let head = line.first {
      switch head {
      case .alarm(let alarm):
        reached.alarm = alarm
        return reached
      case .end(let end):
        reached.ends.append(end)
      }
      line.removeFirst()
    }
    return reached
  }

  private func isReached(_ wanted: Wanted) -> Bool {
    switch wanted {
    case .sleepers(let count): count <= asleep.count
    case .sleep(let duration): asleep.contains { $0.deadline == now + duration }
    }
  }

  private mutating func takeWatchers() -> [Promise<Void?>] {
    let taken = watchers.filter { isReached($0.wanted) }
    watchers = watchers.filter { !isReached($0.wanted) }
    return taken.map(\.promise)
  }
}
