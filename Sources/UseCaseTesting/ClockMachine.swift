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

  private(set) var now = Duration.zero

  /// The earliest deadline first, and of equal deadlines the earliest sleep first.
  private(set) var asleep: [(deadline: Duration, alarm: Promise<Bool>)] = []
  private(set) var sleepsBegun = 0
  private var line: [Due] = []
  private var crowds: [(count: Int, promise: Promise<Void>)] = []

  /// Returns whether the crowd has to wait.
  mutating func `await`(_ count: Int, _ promise: Promise<Void>) -> Bool {
    guard asleep.count < count else { return false }
    crowds.append((count, promise))
    return true
  }

  /// Returns `true` if the deadline is not in the future. Otherwise keeps the alarm, and returns
  /// the crowds that are complete with it.
  mutating func sleep(
    until deadline: Duration, _ alarm: Promise<Bool>
  ) -> (isDue: Bool?, crowds: [Promise<Void>]) {
    guard now < deadline else { return (true, []) }
    let index = asleep.firstIndex { deadline < $0.deadline } ?? asleep.endIndex
    asleep.insert((deadline, alarm), at: index)
    sleepsBegun += 1
    let complete = crowds.filter { $0.count <= asleep.count }
    crowds.removeAll { $0.count <= asleep.count }
    return (nil, complete.map(\.promise))
  }

  /// Returns whether the alarm was set. An alarm that is due stays due.
  mutating func cancel(_ alarm: Promise<Bool>) -> Bool {
    guard let index = asleep.firstIndex(where: { $0.alarm === alarm }) else { return false }
    asleep.remove(at: index)
    return true
  }

  mutating func advance(
    by duration: Duration, _ end: Promise<Void>
  ) -> (ends: [Promise<Void>], alarm: Promise<Bool>?) {
    now += duration
    let due = asleep.prefix { $0.deadline <= now }
    asleep.removeFirst(due.count)
    let isMoving = !line.isEmpty
    line += due.map { .alarm($0.alarm) } + [.end(end)]
    return isMoving ? ([], nil) : move()
  }

  /// The task at the head of the line runs.
  mutating func awake() -> (ends: [Promise<Void>], alarm: Promise<Bool>?) {
    line.removeFirst()
    return move()
  }

  /// Takes the ends at the head of the line, up to the first alarm. This alarm stays.
  private mutating func move() -> (ends: [Promise<Void>], alarm: Promise<Bool>?) {
    var ends: [Promise<Void>] = []
    while let head = line.first {
      switch head {
      case .alarm(let alarm): return (ends, alarm)
      case .end(let end): ends.append(end)
      }
      line.removeFirst()
    }
    return (ends, nil)
  }
}
