/// What was asked of the lane.
enum HistoryAsk: Sendable {
  /// Something that may be recorded.
  case execution
  /// The same, whose title is known before.
  case group
  case undo
  case redo
  case move(HistoryEntry.ID?)
}

/// The same, with its title. Those that wait are kept without, so that they are copied as bits.
struct HistoryQuestion: Sendable {
  let ask: HistoryAsk
  let title: String?

  init(_ ask: HistoryAsk, title: String? = nil) {
    self.ask = ask
    self.title = title
  }
}

// What waits and runs, in the order in which it was asked for.
extension HistoryMachine {
  enum Target: Equatable, Sendable {
    case entry(ID)
    /// What this execution will be once it is recorded.
    case execution(Operation)
  }

  struct Pending: Sendable {
    let operation: Operation
    let ask: HistoryAsk
    /// What an undo or a redo is for. Nil if there was nothing.
    var target: Target?
    /// Whether it has been cancelled while others around it wait.
    var isGone = false

    var isExecution: Bool {
      switch ask {
      case .execution, .group: true
      case .undo, .redo, .move: false
      }
    }

    var hasEffect: Bool {
      switch ask {
      case .execution, .group, .move: true
      case .undo, .redo: target != nil
      }
    }
  }

  /// An execution became an entry while others waited, up to `until`: one of them may be for it.
  struct Resolution: Sendable {
    let operation: Operation
    let entry: ID
    let until: Operation
  }

  /// Whether the holder of the lane still counts as waiting or running.
  var isHolderPending: Bool { holder != nil && pending.first?.operation == holder }

  /// Admits what was asked. Those who ask at the same time may be heard in another order than
  /// that of the lane, which is that of their ids.
  mutating func admit(_ operation: Operation, _ question: HistoryQuestion) {
    if let holder, operation < holder { return }
    var later: [Pending] = []
    while let last = pending.last, last.operation > operation {
      _ = pending.popLast()
      guard !last.isGone else { continue }
      later.append(last)
      count(last, -1)
      forecast = nil
    }
    while pending.last?.isGone == true { _ = pending.popLast() }
    if let title = question.title { titles.append((operation, title)) }
    if !later.isEmpty { titles = HistoryStack(titles.sorted { $0.operation < $1.operation }) }
    enqueue(operation, question.ask)
    for other in later.reversed() {
      // What was for an execution that has failed meanwhile is for nothing else.
      enqueue(other.operation, other.ask, bound: other.target.flatMap { lost($0) })
    }
  }

  private mutating func enqueue(
    _ operation: Operation, _ ask: HistoryAsk, bound: Target? = nil
  ) {
    let isUnbound = unbound.map { operation <= $0 } ?? false
    let target = isUnbound ? nil : bound ?? target(for: ask)
    let newcomer = Pending(operation: operation, ask: ask, target: target)
    pending.append(newcomer)
    count(newcomer, 1)
    if var forecast = forecast.take() {
      advance(&forecast, by: newcomer)
      self.forecast = forecast
    }
    if newcomer.hasEffect { version += 1 }
  }

  /// The lane is the operation's, if it was admitted before.
  mutating func startIfPending(_ operation: Operation) -> Bool {
    guard index(of: operation) != nil else { return false }
    start(operation)
    return true
  }

  /// The lane is the operation's. What came before it and is still here will never run.
  mutating func start(_ operation: Operation) {
    withdraw(before: operation)
    while let first = resolved.first, first.until < operation { _ = resolved.popFirst() }
    while let first = titles.first, first.operation < operation { _ = titles.popFirst() }
    holder = operation
    bodies = 0
    isCleared = false
    clearsWhenOver = false
  }

  /// A recorded body begins in the slot of the holder.
  ///
  /// One that was left behind was asked for last: what waits is not for it.
  mutating func enter(isLeftBehind: Bool = false) {
    bodies += 1
    guard let holder, !isHolderPending else { return }
    if isLeftBehind { unbind(from: holder) }
    let again = Pending(operation: holder, ask: .execution)
    pending = HistoryStack([again] + pending)
    count(again, 1)
    // What was cleared is what ran in the slot before.
    isCleared = false
    forecast = nil
    version += 1
  }

  /// A recorded body begins in the slot of the holder, if it is that of the holder itself: nothing
  /// else of it runs or has been recorded, and the slot has not gone on. Returns whether it does.
  mutating func enterFirst(in slot: Operation?) -> Bool {
    guard isHolderPending, bodies == 0, holder == slot else { return false }
    enter()
    return true
  }

  enum Settlement { case returned, cancelled, ended }

  /// The operation has an outcome, or is over. What runs leaves by itself.
  mutating func settle(_ operation: Operation, _ settlement: Settlement) {
    let mayRun = settlement == .cancelled || settlement == .returned && bodies > 0
    if operation == holder, mayRun { return }
    withdraw(operation)
  }

  /// The holder has done what it was asked for: as in the forecast, or otherwise.
  mutating func leave(asForecast: Bool) {
    if !asForecast || bodies > 0 || pending.count == 1 { forecast = nil }
    guard bodies <= 0, isHolderPending, let holder, let gone = pending.popFirst() else {
      version += 1
      return
    }
    count(gone, -1)
    trim()
    if gone.hasEffect { version += 1 }
    if forecast != nil, expected.first == holder {
      _ = expected.popFirst()
      forecast?.executions -= 1
      forecast?.kept += 1
    }
  }

  /// The lane has gone on to the operation: what came before it is over.
  mutating func withdraw(before operation: Operation) {
    while let first = pending.first, first.operation < operation { withdraw(first.operation) }
  }

  /// The operation will not do what it was asked for.
  private mutating func withdraw(_ operation: Operation) {
    guard let index = index(of: operation) else { return }
    count(pending[index], -1)
    if pending[index].hasEffect { version += 1 }
    pending[index].isGone = true
    forecast = nil
    trim()
  }

  /// Mostly it is asked for the first, or for one that has left.
  mutating func index(of operation: Operation) -> Int? {
    guard let first = pending.first?.operation, first <= operation else { return nil }
    let index = first == operation ? 0 : pending.firstIndex(behind: { $0.operation >= operation })
    guard index < pending.count, pending[index].operation == operation, !pending[index].isGone
    else { return nil }
    return index
  }

  private mutating func trim() {
    while pending.first?.isGone == true { _ = pending.popFirst() }
    while pending.last?.isGone == true { _ = pending.popLast() }
    while let title = titles.last, pending.last.map({ $0.operation < title.operation }) ?? true {
      _ = titles.popLast()
    }
  }

  private mutating func count(_ pending: Pending, _ change: Int) {
    switch pending.ask {
    case .execution, .group: executions += change
    case .undo, .redo, .move: if pending.hasEffect { moves += change }
    }
  }

  /// What waits to undo or redo finds nothing.
  mutating func unbind() {
    if let last = pending.last { unbound = last.operation }
    for index in pending.indices where index > 0 || moving == nil {
      guard !pending[index].isGone, pending[index].target != nil else { continue }
      count(pending[index], -1)
      pending[index].target = nil
    }
    resolved = HistoryStack()
    forecast = nil
  }

  /// What waits for the execution of the holder is for what it has become. If that is nothing, no
  /// entry is what was meant.
  private mutating func unbind(from holder: Operation) {
    let target = resolved(.execution(holder))
    for index in pending.indices where pending[index].target == .execution(holder) {
      pending[index].target = target == .execution(holder) ? .entry(ID(number: 0)) : target
    }
  }

  /// The execution of the holder has become this entry, for which a move may wait.
  mutating func resolve(to entry: ID) {
    guard moves > 0, let holder, let last = pending.last else { return }
    // Of two that are recorded in one slot, what waits is for the later one.
    if resolved.last?.operation == holder { forecast = nil }
    resolved.append(Resolution(operation: holder, entry: entry, until: last.operation))
  }

  /// Returns the target if it is an execution that has become nothing.
  private mutating func lost(_ target: Target) -> Target? {
    guard case .execution(let operation) = target, index(of: operation) == nil else { return nil }
    return resolved(target) == target ? target : nil
  }

  /// Returns the target by its entry, as soon as it has one.
  mutating func resolved(_ target: Target) -> Target {
    guard case .execution(let operation) = target else { return target }
    let index = resolved.firstIndex(behind: { $0.operation > operation }) - 1
    guard index >= 0, resolved[index].operation == operation else { return target }
    return .entry(resolved[index].entry)
  }
}
