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

    mutating func begin() -> StepScope? {
      running += 1
      return scope
    }

    /// An attempt has ended. Gives its step for that of the attempt before, to be released. After the
    /// last attempt, this returns the waiter.
    mutating func end(_ step: inout (any HistoryStep)?) -> UnsafeContinuation<Void, Never>? {
      running -= 1
      if step != nil { swap(&step, &self.step) }
      return running == 0 ? waiter.take() : nil
    }

    /// Keeps the waiter until no attempt runs. Returns it if none does.
    mutating func wait(
      _ waiter: UnsafeContinuation<Void, Never>
    ) -> UnsafeContinuation<Void, Never>? {
      if running == 0 { return waiter }
      self.waiter = waiter
      return nil
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
    let scope = state.withLock { $0.begin() }
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
  /// have left one behind, which has its effect later. Nil if there is no effect.
  nonisolated(nonsending) func lastStep() async -> (any HistoryStep)? {
    // None is left behind as a rule, and to wait costs more than to look.
    if state.withLock({ $0.running > 0 }) {
      await withUnsafeContinuation { waiter in state.withLock { $0.wait(waiter) }?.resume() }
    }
    return state.withLock { $0.step }
  }
}
