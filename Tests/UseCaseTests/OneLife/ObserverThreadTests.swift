import TestSupport
import Testing
import UseCase

/// The observer is never called from the cancellation handler of a task.
///
/// Such a handler runs under the runtime's lock of its task: whoever escalates that task waits for
/// the observer, and the observer may wait for whoever escalates.
@Suite(.serialized, .mustEnd)
struct ObserverThreadTests {
  enum Form: CaseIterable { case call, outcome, valueOrCancel }

  /// A lock of the client's.
  private final class Book: Sendable {
    let lines = Watched<[String]>([])
  }

  private func wait(for held: Held, in form: Form) -> Task<Void, Never> {
    Task {
      switch form {
      case .call: _ = try? await held(1)
      case .outcome: _ = await held.outcome(of: 1)
      case .valueOrCancel: _ = try? await held.execute(1).valueOrCancel()
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `a task may be escalated while the observer hears of its cancellation`(
    form: Form
  ) async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    try await stopUnlessItEnds("the observer under the lock of a task", within: .seconds(600)) {
      let (told, locked, over) = (Gate(), Gate(), Gate())
      let book = Book()
      let queue = UseCaseQueue { event in
        guard case .cancelled = event.kind else { return }
        told.open()
        book.lines.update { $0.append("cancelled") }
      }
      let held = Held(on: queue)
      let task = wait(for: held, in: form)
      await held.begun.elements(atLeast: 1)
      onThread {
        book.lines.update { lines in
          locked.open()
          holdThread { told.isOpen }
          // The observer waits for the lock that this thread has.
          task.escalatePriority(to: .high)
          lines.append("escalated")
        }
        over.open()
      }
      await locked.passIgnoringCancellation()
      onThread { task.cancel() }
      await over.passIgnoringCancellation()
      held.open(1)
      await task.value
      await queue.idle()
      #expect(book.lines.value == ["escalated", "cancelled"])
    }
  }

  /// The same with one thread: the observer escalates the task that is being cancelled.
  @Test(arguments: Form.allCases)
  func `an observer may escalate the task whose cancellation it hears of`(
    form: Form
  ) async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    try await stopUnlessItEnds("an observer that escalates", within: .seconds(600)) {
      let current = Watched<Task<Void, Never>?>(nil)
      let events = Log<String>()
      let queue = UseCaseQueue { event in
        guard case .cancelled = event.kind else { return }
        current.value?.escalatePriority(to: .high)
        events.append("\(event.kind)")
      }
      let held = Held(on: queue)
      let task = wait(for: held, in: form)
      current.update { $0 = task }
      await held.begun.elements(atLeast: 1)
      onThread { task.cancel() }
      await events.elements(atLeast: 1)
      held.open(1)
      await task.value
      await queue.idle()
      #expect(events.count == 1)
      current.update { $0 = nil }
    }
  }

  @Test(arguments: [true, false])
  func `what a task that is cancelled waits for may be escalated by the observer of its queue`(
    isWaiting: Bool
  ) async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    try await stopUnlessItEnds("a cancelled ride", within: .seconds(600)) {
      let current = Watched<Task<Void, Never>?>(nil)
      let events = Log<String>()
      let queue = UseCaseQueue { event in
        guard case .cancelled = event.kind else { return }
        current.value?.escalatePriority(to: .high)
        events.append("\(event.kind)")
      }
      if isWaiting { queue.suspend() }
      let held = Held(on: queue)
      let shared = held.shared()
      let task = Task { _ = try? await shared(1) }
      current.update { $0 = task }
      while !queue.isBusy { await Task.yield() }
      if !isWaiting { await held.begun.elements(atLeast: 1) }
      onThread { task.cancel() }
      // The last rider has left, so its run is cancelled.
      await events.elements(atLeast: 1)
      held.open(1)
      await task.value
      await queue.idle()
      current.update { $0 = nil }
    }
  }
}
