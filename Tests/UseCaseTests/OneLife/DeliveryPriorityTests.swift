import TestSupport
import Testing
import UseCase

/// An operation is raised until it has ended, and so is the task that delivers.
@Suite(.mustEnd)
struct DeliveryPriorityTests {
  private var escalates: Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
  }

  enum Cause: CaseIterable { case newcomer, raise, value }

  @Test(arguments: Cause.allCases)
  func `what raises an operation reaches the task that delivers it`(cause: Cause) async {
    let (held, desk) = (Held(.serial), Desk())
    let seen = Log<TaskPriority>()
    let operation = held.execute(1, priority: .background)
    await desk.attachThen(to: operation) { _ in }
    operation.common { seen.append(Task.currentPriority) }
    desk.executor.hold()
    held.open(1...2)
    await desk.executor.jobs(atLeast: 1)
    // The body has returned, and the operation holds its slot.
    var newcomer: Operation?
    var waiter: Task<Void, Never>?
    switch cause {
    case .newcomer: newcomer = held.execute(2, priority: .high)
    case .raise: operation.raise(to: .high)
    case .value:
      waiter = Task(priority: .high) { _ = try? await operation.value }
      while operation.priority < .high { await Task.yield() }
    }
    #expect(operation.priority == .high)
    desk.executor.release()
    await operation.ended()
    await newcomer?.ended()
    await waiter?.value
    if escalates { #expect(seen.elements == [.high]) }
  }
}
