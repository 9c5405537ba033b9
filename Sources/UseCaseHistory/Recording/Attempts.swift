import UseCase
import UseCaseInternals

/// The attempts of interceptors at a `main`, an `undo` or a `redo`, such as those of a retry.
///
/// The types of the use case do not matter here: a generic lock would be looked up for each of them.
final class Attempts: Sendable {
  private struct State: Sendable {
    /// The transaction in which each attempt runs.
    var scope: StepScope?
    var running = 0
    var step: (any HistoryStep)?
    var waiter: UnsafeContinuation<Void, Never>?
    /// Whether the last attempt is known. An interceptor may call `next` later still.
    var isOver = false

    mutating func begin() -> (mayBegin: Bool, scope: StepScope?) {
      if !isOver { running += 1 }
      return (!isOver, scope)
    }

    /// An attempt has ended. Swaps its step with the one before, which the caller releases. After the
    /// last attempt, this returns the waiter.
    mutating func end(_ step: inout (any HistoryStep)?) -> UnsafeContinuation<Void, Never>? {
      running -= 1
      if step != nil { swap(&step, &self.step) }
      guard running == 0, let waiter = waiter.take() else { return nil }
      isOver = true
      return waiter
    }

    /// Keeps the waiter until no attempt runs. Returns it if none does.
    mutating func wait(
      _ waiter: UnsafeContinuation<Void, Never>
    ) -> UnsafeContinuation<Void, Never>? {
      if close() { return waiter }
      self.waiter = waiter
      return nil
    }

    /// No attempt begins from now on, unless one runs. Returns whether none does.
    mutating func close() -> Bool {
      if running == 0 { isOver = true }
      return isOver
    }
  }

  private let state: Lock<State>

  init(in scope: StepScope? = nil) { state = Lock(State(scope: scope)) }

  /// Each attempt from now on runs in this scope.
  func runInside(_ scope: @escaping StepScope) { state.withLock { $0.scope = scope } }

  /// Runs an attempt, which returns the step that it has made or undone.
  @inline(__always)
  func run<Step: HistoryStep>(
    _ body: @Sendable () async throws -> Step
  ) async throws -> Step {
    let (mayBegin, scope) = state.withLock { $0.begin() }
    if !mayBegin { throw CancellationError() }
    do {
      let step: Step = if let scope { own(try await scope(body)) } else { try await body() }
      end(step)
      return step
    } catch {
      end(nil)
      throw error
    }
  }

  private func own<Step: HistoryStep>(_ step: any HistoryStep) -> Step {
    guard let step = step as? Step else { preconditionFailure("\(step) is no \(Step.self).") }
    return step
  }

  private func end(_ step: consuming (any HistoryStep)?) {
    state.withLock { $0.end(&step) }?.resume()
  }

  /// Returns the step of the last attempt that has returned, as soon as none runs: an interceptor may
  /// have left one behind, which has its effect later. Nil if there is no effect. An attempt that begins
  /// after that is cancelled before its body begins.
  nonisolated(nonsending) func lastStep() async -> (any HistoryStep)? {
    // None is left behind as a rule, and to wait costs more than to look.
    if !state.withLock({ $0.close() }) {
      await withUnsafeContinuation { waiter in state.withLock { $0.wait(waiter) }?.resume() }
    }
    return state.withLock { $0.step }
  }
}
