import UseCaseInternals

/// Who runs, who waits and who gives way on one queue.
///
/// The machine decides and its owner acts once the lock is released. `Operation` is an operation
/// in the library and a plain value in the tests, `Waiter` is who waits for the queue to be idle.
///
/// An operation has a seat from its admission until it is over:
///
///     waiting → live → unwinding → (gone)
///
/// Live operations hold a slot and have no outcome yet, unwinding ones hold a slot although they
/// have one. Seats are reused, so a seat is named together with the id of who sits there. The
/// lists are linked through the seats, the oldest first: every event costs O(1) for each
/// operation that it moves. What is called once, or does less than its call costs, is inlined.
struct QueueMachine<Operation: Sendable, Waiter: Sendable>: Sendable {
  struct Ticket: Hashable, Sendable {
    var seat: Int
    var id: UInt64
  }

  struct Admission: Sendable {
    var ticket: Ticket
    var decision: UseCaseQueue.Policy.Decision.Admission
    /// These give way, the oldest first. They are cancelled as superseded.
    var superseded: Few<Operation>
  }

  /// What the end of an operation allows. Mostly there is none, because nobody waits.
  struct Release: Sendable {
    /// These hold a slot now.
    var started = Few<Operation>.none
    /// The queue is idle: these need to wait no longer.
    var idle = Few<Waiter>.none
  }

  private enum Stage {
    case free, waiting(isReady: Bool), live, unwinding
  }

  private struct Seat {
    var operation: Operation?
    /// The lower half of its id, which tells it from who sat there a moment ago.
    let id: UInt32
    var links: (previous: Int32, next: Int32)
    var stage: Stage

    init(_ operation: Operation?, id: UInt64, stage: Stage, next: Int = -1) {
      (self.operation, self.id, self.stage) = (operation, UInt32(truncatingIfNeeded: id), stage)
      links = (-1, Int32(next))
    }

    var next: Int {
      get { Int(links.next) }
      set { links.next = Int32(newValue) }
    }
  }

  private struct Line {
    var first = -1
    var last = -1
    var count = 0

    @inline(__always) mutating func append(_ seat: Int, in seats: inout [Seat]) {
      seats[seat].links = (Int32(last), -1)
      if last >= 0 { seats[last].next = seat } else { first = seat }
      last = seat
      count += 1
    }

    @inline(__always) mutating func remove(_ seat: Int, in seats: inout [Seat]) {
      let (previous, next) = (Int(seats[seat].links.previous), seats[seat].next)
      if previous >= 0 { seats[previous].next = next } else { first = next }
      if next >= 0 { seats[next].links.previous = Int32(previous) } else { last = previous }
      count -= 1
    }
  }

  let policy: UseCaseQueue.Policy
  private(set) var isSuspended = false
  private var seats: [Seat] = []
  /// The seat that became free last. The next one is its `next`.
  private var free = -1
  private var waiting = Line()
  private var live = Line()
  private var unwinding = Line()
  private var (succeeded, failed, cancelled) = (0, 0, 0)
  private var waiters = Few<Waiter>.none

  init(policy: UseCaseQueue.Policy) {
    self.policy = policy
  }

  private var holding: Int { live.count + unwinding.count }

  var activity: UseCaseActivity {
    UseCaseActivity(
      running: holding, waiting: waiting.count,
      succeeded: succeeded, failed: failed, cancelled: cancelled)
  }

  /// Admits `operation`. `id` is higher than that of any operation admitted before.
  @inline(__always) mutating func submit(_ operation: Operation, id: UInt64) -> Admission {
    let decision = policy.decision(
      holding: holding, live: live.count, waiting: waiting.count, isSuspended: isSuspended)
    var superseded = Few<Operation>.none
    for _ in 0..<decision.supersededLive {
      if let operation = unwind(live.first) { superseded.append(operation) }
    }
    for _ in 0..<decision.supersededWaiting {
      if let operation = leave(waiting.first) { superseded.append(operation) }
    }
    var ticket = Ticket(seat: -1, id: id)
    switch decision.admission {
    case .start:
      ticket.seat = take(Seat(operation, id: id, stage: .live))
      live.append(ticket.seat, in: &seats)
    case .wait:
      let stage = Stage.waiting(isReady: policy.debounce == nil)
      ticket.seat = take(Seat(operation, id: id, stage: stage))
      waiting.append(ticket.seat, in: &seats)
    case .refuse:
      cancelled += 1
    }
    return Admission(ticket: ticket, decision: decision.admission, superseded: superseded)
  }

  /// The operation has an outcome before its time. If it waits it leaves, else it unwinds.
  mutating func cancel(_ ticket: Ticket) -> Release? {
    guard holds(ticket) else { return nil }
    if case .live = seats[ticket.seat].stage { _ = unwind(ticket.seat) }
    guard case .waiting = seats[ticket.seat].stage else { return nil }
    _ = leave(ticket.seat)
    return release()
  }

  /// The operation's debounce is over.
  mutating func ready(_ ticket: Ticket) -> Release? {
    guard holds(ticket), case .waiting = seats[ticket.seat].stage else { return nil }
    seats[ticket.seat].stage = .waiting(isReady: true)
    return release()
  }

  /// The operation gives its slot back.
  ///
  /// One that still waits may have been ended, and its task gone, before `cancel` is heard.
  @inline(__always) mutating func finish(_ ticket: Ticket, as kind: Verdict.Kind) -> Release? {
    guard holds(ticket) else { return nil }
    if case .waiting = seats[ticket.seat].stage { return cancel(ticket) }
    if case .live = seats[ticket.seat].stage {
      live.remove(ticket.seat, in: &seats)
    } else {
      unwinding.remove(ticket.seat, in: &seats)
    }
    vacate(ticket.seat)
    switch kind {
    case .success: succeeded += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
    return release()
  }

  /// Returns all, those that run before those that wait.
  mutating func cancelAll() -> (operations: [Operation], release: Release?) {
    var operations: [Operation] = []
    operations.reserveCapacity(holding + waiting.count)
    while live.count > 0 { _ = unwind(live.first) }
    var seat = unwinding.first
    while seat >= 0 {
      if let operation = seats[seat].operation { operations.append(operation) }
      seat = seats[seat].next
    }
    while waiting.count > 0 {
      if let operation = leave(waiting.first) { operations.append(operation) }
    }
    return (operations, release())
  }

  mutating func suspend() { isSuspended = true }

  mutating func resume() -> Release? {
    isSuspended = false
    return release()
  }

  /// Returns the waiter if the queue is idle, and keeps it otherwise.
  mutating func wait(_ waiter: Waiter) -> Waiter? {
    guard holding > 0 || waiting.count > 0 else { return waiter }
    waiters.append(waiter)
    return nil
  }

  /// Returns what may go on now, nil if nobody waits for a slot or for an idle queue.
  @inline(__always) private mutating func release() -> Release? {
    if waiting.count == 0, case .none = waiters { return nil }
    var release = Release()
    while !isSuspended, waiting.count > 0, policy.mayStart(holding: holding),
      case .waiting(isReady: true) = seats[waiting.first].stage
    {
      let seat = waiting.first
      waiting.remove(seat, in: &seats)
      seats[seat].stage = .live
      live.append(seat, in: &seats)
      if let operation = seats[seat].operation { release.started.append(operation) }
    }
    if holding == 0, waiting.count == 0 { swap(&release.idle, &waiters) }
    return release
  }
}

// MARK: - Seats

extension QueueMachine {
  func holds(_ ticket: Ticket) -> Bool {
    guard seats.indices.contains(ticket.seat) else { return false }
    if case .free = seats[ticket.seat].stage { return false }
    return seats[ticket.seat].id == UInt32(truncatingIfNeeded: ticket.id)
  }

  @inline(__always) private mutating func take(_ seat: consuming Seat) -> Int {
    guard free >= 0 else {
      seats.append(seat)
      return seats.count - 1
    }
    let index = free
    free = seats[index].next
    seats[index] = seat
    return index
  }

  @inline(__always) private mutating func vacate(_ seat: Int) {
    seats[seat] = Seat(nil, id: 0, stage: .free, next: free)
    free = seat
  }

  private mutating func leave(_ seat: Int) -> Operation? {
    let operation = seats[seat].operation
    waiting.remove(seat, in: &seats)
    vacate(seat)
    cancelled += 1
    return operation
  }

  private mutating func unwind(_ seat: Int) -> Operation? {
    live.remove(seat, in: &seats)
    seats[seat].stage = .unwinding
    unwinding.append(seat, in: &seats)
    return seats[seat].operation
  }
}
