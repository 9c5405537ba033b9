import UseCase
import UseCaseInternals

/// The attempts of interceptors at a `main`, an `undo` or a `redo`, such as those of a retry.
///
/// The types of the use case do not matter here: a generic lock would be looked up for each of them.
final class Attempts: Sendable {
  private struct State: Sendable {
    var running = 0
    var step: (any HistoryStep)?
    var waiter: UnsafeContinuation<Void, Never>?

    /// An attempt has ended. After the last one, this returns the waiter.
    mutating func end(_ step: (any HistoryStep)?) -> UnsafeContinuation<Void, Never>? {
      running -= 1
      if let step { self.step = step }
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

  private let state = Lock(State())

  /// The step of the last attempt that has returned: a new one, or the one that it has undone. Nil if
  /// there is no effect.
  var step: (any HistoryStep)? { state.withLock { $0.step } }

  func begin() { state.withLock { $0.running += 1 } }

  /// An attempt has ended, with a step if it has returned.
  func end(_ step: (any HistoryStep)?) { state.withLock { $0.end(step) }?.resume() }

  /// Returns when none runs.
  nonisolated(nonsending) func idle() async {
    // None is left behind as a rule, and to wait costs more than to look.
    if state.withLock({ $0.running == 0 }) { return }
    await withUnsafeContinuation { waiter in state.withLock { $0.wait(waiter) }?.resume() }
  }
}

extension UndoableUseCase {
  /// Whether nothing is around its `main`, `undo` and `redo`.
  func isPlain(_ request: Request) -> Bool {
    queue(for: request).isPlain && !UseCaseTimeout.limits(timeout)
  }

  /// Runs `main`, `undo` or `redo` with the interceptors of the use case's own queue around it, all of
  /// it under the timeout, which fails the operation. Only what has nothing around it may run
  /// elsewhere.
  ///
  /// - Parameters:
  ///   - request: The request, which an interceptor may change.
  ///   - timeout: The limit.
  ///   - attempts: Notes each attempt, and its step.
  ///   - answer: Returns the value that the interceptors see.
  ///   - body: Returns the step that it has made or undone.
  /// - Returns: The answer of the interceptors.
  /// - Throws: Their error. There may be an effect before it.
  func run<Answer: Sendable>(
    _ request: Request, timeout: Duration = UseCaseTimeout.never, _ attempts: Attempts,
    answering answer: @escaping @Sendable (RecordedStep<Self>) -> Answer,
    body: @escaping @Sendable (Request) async throws -> RecordedStep<Self>
  ) async throws -> Answer {
    let timer = QueuePlace.timer(timeout)
    defer { timer?.cancel() }
    let attempt: @Sendable (Request) async throws -> Answer = { request in
      var step: RecordedStep<Self>?
      attempts.begin()
      defer { attempts.end(step) }
      let made = try await body(request)
      step = made
      return answer(made)
    }
    let queue = queue(for: request)
    if queue.isPlain { return try await attempt(request) }
    do {
      let answer = try await queue.intercept(request, of: Self.self, step: attempt)
      // An interceptor may have left an attempt behind, which has its effect later.
      await attempts.idle()
      return answer
    } catch {
      await attempts.idle()
      throw error
    }
  }
}
