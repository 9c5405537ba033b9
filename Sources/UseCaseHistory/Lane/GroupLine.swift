import UseCase
import UseCaseInternals

/// The queues on which the parts of one group run.
struct GroupLine: Sendable {
  /// Runs the executions of its body, or of its `HistoryGroup`, one after the other, in the order of
  /// the calls.
  let queue: UseCaseQueue
  /// Runs the calls of its body, which may overlap with `async let`. A call waits for the executions
  /// that were asked for before it.
  let calls: UseCaseQueue
  let parts: GroupParts
  /// How many groups it is in.
  let depth: Int

  /// Creates the line of a group in `outer`, or on the lane. One that is held open waits for its
  /// body.
  init(
    inside outer: GroupLine?, on lane: UseCaseQueue,
    observer: (@Sendable (UseCaseEvent) -> Void)?, isHeld: Bool
  ) {
    depth = outer.map { $0.depth + 1 } ?? 0
    parts = GroupParts(inside: isHeld ? outer?.parts : nil, isObserved: observer != nil)
    let around = outer?.queue ?? lane
    calls = UseCaseQueue(
      .unlimited, delegate: parts, inside: around, clock: lane.clock, observer: observer)
    queue = UseCaseQueue(
      delegate: Executions(parts: parts, calls: calls), inside: around, clock: lane.clock,
      observer: observer)
    if isHeld { queue.suspend() }
  }

  /// Cancels the parts that run and wait, and those to come. Returns whether the body of the group has
  /// begun: its operation then ends by itself.
  @discardableResult
  func cancel() -> Bool {
    let hasBegun = parts.cancel()
    cancelParts()
    return hasBegun
  }

  /// Cancels the parts, and lets the queue of a group that is held open go on: a part that comes now
  /// fails, and doesn't wait.
  func cancelParts() {
    queue.cancelAll()
    calls.cancelAll()
    queue.resume()
  }
}

extension GroupLine {
  /// Why the body of a group must not execute a use case of this type, if it is the running code.
  static func objection(to useCaseType: any Any.Type) -> String? {
    guard useCaseType is any UndoableUseCase.Type,
      case .group(let line)? = HistoryFrame.current?.role,
      line.parts.operation == UseCaseQueue.operationHere
    else { return nil }
    return """
      \(useCaseType) is undoable, and executed in a group without being recorded, so its effect is in \
      no entry. Execute it by way of `recorded(in:)`, or of the `execute` of the history.
      """
  }
}

/// Follows the queue of what is executed, and lets what is called go another way.
private final class Executions: QueueDelegate {
  private let parts: GroupParts
  private let calls: UseCaseQueue

  init(parts: GroupParts, calls: UseCaseQueue) { (self.parts, self.calls) = (parts, calls) }

  func admitted(_ operation: any AdmittedOperation) {
    parts.admitted(operation, isExecuted: true)
  }
  func started(_ id: UseCaseOperationID) {}
  func left(_ id: UseCaseOperationID, hasSucceeded: Bool) {
    parts.left(id, hasSucceeded: hasSucceeded)
  }
  func unlocked() { parts.unlocked() }
  func call() -> QueueCall { parts.call(on: calls) }
  func check(_ description: ExecutionDescription) { parts.check(description) }
  func isBodyHere() -> Bool { parts.isBodyHere() }
  func name(of id: UseCaseOperationID) -> String? { parts.name(of: id) }
  func objection(to useCaseType: any Any.Type) -> String? { parts.objection(to: useCaseType) }
}

/// The life of a group, as its parts see it.
final class GroupParts: QueueDelegate {
  typealias Waiter = UnsafeContinuation<Void, Never>

  private let machine = Lock(GroupPartsMachine<Waiter>())
  /// The parts of the group around it, which this one holds up for as long as it is held open.
  private let outer: GroupParts?
  private let isObserved: Bool

  init(inside outer: GroupParts?, isObserved: Bool) {
    (self.outer, self.isObserved) = (outer, isObserved)
    outer?.machine.withLock { $0.held += 1 }
  }

  func admitted(_ operation: any AdmittedOperation) { admitted(operation, isExecuted: false) }

  func admitted(_ operation: any AdmittedOperation, isExecuted: Bool) {
    let (id, title) = (operation.id, (operation.description?.words as? HistoryWish)?.title ?? "")
    machine.withLock {
      $0.admit(id, title: title, isExecuted: isExecuted, isObserved: isObserved)
    }
  }

  func started(_ id: UseCaseOperationID) {}

  func left(_ id: UseCaseOperationID, hasSucceeded: Bool) { machine.withLock { $0.leave(id) } }

  func unlocked() { for waiter in machine.withLock({ $0.takeWaiters() }) { waiter.resume() } }

  func check(_ description: ExecutionDescription) { description.assureIsRecorded() }

  func name(of id: UseCaseOperationID) -> String? { machine.withLock { $0.names[id] } }

  func isBodyHere() -> Bool {
    switch HistoryFrame.current?.role {
    case .body, .answered: true
    case .group, nil: false
    }
  }

  // MARK: The group

  func objection(to useCaseType: any Any.Type) -> String? {
    GroupLine.objection(to: useCaseType)
  }

  /// The body of the group begins.
  func begin(_ group: HistoryEntry.ID, in operation: UseCaseOperationID?) {
    machine.withLock { ($0.group, $0.operation) = (group, operation) }
  }

  /// The operation of the group, once its body has begun.
  var operation: UseCaseOperationID? { machine.withLock { $0.operation } }

  /// Waits until the group, which is held open, is closed or cancelled.
  nonisolated(nonsending) func hold() async {
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.hold(waiter) }?.resume()
    }
  }

  /// No part is asked for from now on. Returns when the parts have ended, handlers included.
  nonisolated(nonsending) func end() async {
    close()
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.awaitParts(waiter) }?.resume()
    }
  }

  /// Returns false if the group was cancelled before. Else nothing can cancel it from now on.
  func record() -> Bool { machine.withLock { $0.record() } }

  /// A group that is held open is to end.
  func close() {
    letGo(machine.withLock { $0.close() })
  }

  /// Returns whether the body of the group has begun.
  func cancel() -> Bool {
    let (hasBegun, ending) = machine.withLock { $0.cancel() }
    letGo(ending)
    return hasBegun
  }

  private func letGo(_ ending: GroupPartsMachine<Waiter>.Ending) {
    if ending.isFirst { outer?.machine.withLock { $0.held -= 1 } }
    ending.holder?.resume()
  }

  // MARK: The parts

  /// Whether parts can be asked for.
  var isOpen: Bool { machine.withLock { $0.isOpen } }

  /// Whether a group in it is held open.
  var holdsGroup: Bool { machine.withLock { $0.held > 0 } }

  /// Returns the way of a call in the body of the group. It is refused while a group in it is held open:
  /// it would wait for others to close that.
  func call(on calls: UseCaseQueue) -> QueueCall {
    holdsGroup ? .refuse(HistoryError.outOfTurn) : .on(calls)
  }

  /// Waits for the executions that were asked for before this call.
  nonisolated(nonsending) func awaitEarlier(_ call: UseCaseOperationID) async {
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.awaitEarlier(call, waiter) }?.resume()
    }
  }

  /// The body of a part begins. Returns the group and the title of the part, nil if it came after the
  /// end of the group, or has begun already.
  ///
  /// - Throws: `CancellationError` if the group is cancelled.
  func beginPart(_ id: UseCaseOperationID) throws -> (group: HistoryEntry.ID, title: String)? {
    switch machine.withLock({ $0.beginPart(id) }) {
    case .part(let group, let title): return (group, title)
    case .isLate: return nil
    case .isCancelled: throw CancellationError()
    }
  }
}

struct GroupPartsMachine<Waiter: Sendable>: Sendable {
  /// Nil before its body begins.
  var group: HistoryEntry.ID?
  var operation: UseCaseOperationID?
  /// How many groups in it are held open.
  var held = 0
  private(set) var isOpen = true
  private var isCancelled = false
  private var isRecorded = false
  /// A part that waits or runs.
  private struct Part: Sendable {
    let title: String
    var hasBegun = false
  }

  /// The parts that wait or run.
  private var parts: [UseCaseOperationID: Part] = [:]
  /// The parts that are executed, and not called.
  private var executions: Set<UseCaseOperationID> = []
  /// The calls that wait for executions.
  private var calls: [(id: UseCaseOperationID, waiter: Waiter)] = []
  /// The titles of all, as long as the group is observed.
  private(set) var names: [UseCaseOperationID: String] = [:]
  /// The parts that the body asks for once the group is cancelled.
  private var refused: Set<UseCaseOperationID> = []
  private var isBodyOver = false
  /// Waits for the end of the parts.
  private var waiter: Waiter?
  /// Waits until the group is closed.
  private var holder: Waiter?

  /// The group is closed or cancelled.
  struct Ending: Sendable {
    /// Whether it was open before.
    let isFirst: Bool
    let holder: Waiter?
  }

  enum Beginning: Sendable {
    case part(HistoryEntry.ID, title: String)
    case isLate
    case isCancelled
  }

  mutating func admit(
    _ id: UseCaseOperationID, title: String, isExecuted: Bool, isObserved: Bool
  ) {
    if isObserved { names[id] = title }
    if isOpen {
      parts[id] = Part(title: title)
      if isExecuted { executions.insert(id) }
    } else if isCancelled, !isBodyOver {
      refused.insert(id)
    }
  }

  mutating func leave(_ id: UseCaseOperationID) {
    parts[id] = nil
    executions.remove(id)
    refused.remove(id)
  }

  /// Returns the waiters that need not wait any more.
  mutating func takeWaiters() -> [Waiter] {
    let end = (parts.isEmpty ? waiter.take() : nil).map { [$0] } ?? []
    if calls.isEmpty { return end }
    let waiting = calls
    calls = waiting.filter { !mayGoOn($0.id) }
    return waiting.filter { mayGoOn($0.id) }.map(\.waiter) + end
  }

  private func mayGoOn(_ call: UseCaseOperationID) -> Bool {
    !executions.contains { $0 < call }
  }

  mutating func awaitEarlier(_ call: UseCaseOperationID, _ waiter: Waiter) -> Waiter? {
    if mayGoOn(call) { return waiter }
    calls.append((call, waiter))
    return nil
  }

  mutating func beginPart(_ id: UseCaseOperationID) -> Beginning {
    if isCancelled, parts[id] != nil || refused.contains(id) { return .isCancelled }
    guard let group, let part = parts[id], !part.hasBegun else { return .isLate }
    parts[id]?.hasBegun = true
    return .part(group, title: part.title)
  }

  mutating func hold(_ waiter: Waiter) -> Waiter? {
    guard isOpen else { return waiter }
    holder = waiter
    return nil
  }

  mutating func awaitParts(_ waiter: Waiter) -> Waiter? {
    isBodyOver = true
    if parts.isEmpty { return waiter }
    self.waiter = waiter
    return nil
  }

  mutating func close() -> Ending {
    defer { isOpen = false }
    return Ending(isFirst: isOpen, holder: holder.take())
  }

  mutating func cancel() -> (hasBegun: Bool, Ending) {
    if isRecorded { return (true, Ending(isFirst: false, holder: nil)) }
    isCancelled = true
    return (group != nil, close())
  }

  mutating func record() -> Bool {
    if isCancelled { return false }
    isRecorded = true
    return true
  }
}
