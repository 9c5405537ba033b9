import Synchronization
import UseCaseInternals

/// Runs a body again when it fails.
///
/// ```swift
/// let queue = UseCaseQueue(
///   interceptors: [
///     RetryInterceptor(
///       attempts: 3, delay: .exponential(.seconds(1), cap: .seconds(5)))
///   ])
/// ```
///
/// Cancellation is never retried, and ends a delay at once. A `CancellationError` counts as one, also
/// that of a call in the body which its queue has dropped: throw another error to try again.
/// ``UseCaseQueue/flush(retries:)`` of the queue with `retries: true` ends a delay, too, and the next
/// attempt begins: "we are online again". The timeout of the use case covers all attempts and the
/// delays between them.
public struct RetryInterceptor: UseCaseInterceptor {
  private let attempts: Int
  private let delay: Delay
  private let clock: (any Clock<Duration>)?
  private let shouldRetry: @Sendable (any Error) -> Bool

  /// Creates an interceptor that runs a failed body again.
  ///
  /// - Parameters:
  ///   - attempts: The greatest number of times that the body runs, at least 1; anything less is a
  ///     programmer error and traps.
  ///   - delay: How long to wait before each further attempt.
  ///   - clock: Measures the delay, `nil` for the clock of the queue.
  ///   - shouldRetry: Whether another attempt may help after this error. It runs on no actor.
  public init(
    attempts: Int, delay: Delay = .constant(.zero), clock: (any Clock<Duration>)? = nil,
    when shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    guard attempts >= 1 else {
      fatalError("`attempts` must be 1 or more, but it is \(attempts).")
    }
    self.attempts = attempts
    self.delay = delay
    self.clock = clock
    self.shouldRetry = shouldRetry
  }

  /// Runs the body until it succeeds or is cancelled, until the `when` closure rejects its error,
  /// or until no attempt is left.
  ///
  /// - Parameters:
  ///   - request: The request of the operation.
  ///   - execution: The operation, and the name of its use case.
  ///   - next: The next interceptor, or the body.
  /// - Returns: The response of the first attempt that succeeds.
  /// - Throws: The error of the last attempt, or `CancellationError`.
  /// - Complexity: O(*n*) in the number of attempts, not counting the body and the delays.
  public func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    var attempt = 1
    while true {
      do {
        return try await next(request)
      } catch {
        guard attempt < attempts, !(error is CancellationError), shouldRetry(error) else {
          throw error
        }
        let pause = delay.duration(after: error, attempt: attempt)
        if pause > .zero { try await execution.pause(pause, clock) }
        try Task.checkCancellation()
        attempt += 1
      }
    }
  }
}

extension RetryInterceptor {
  /// How long to wait before each further attempt.
  public struct Delay: Sendable {
    /// The delay after the failure of the attempt with this number, counted from 1.
    private let afterFailure: @Sendable (any Error, _ attempt: Int) -> Duration

    /// Returns how long this delay waits, so that a custom one can fall back on another.
    ///
    /// - Parameters:
    ///   - error: The error of the attempt that failed.
    ///   - attempt: The number of that attempt, counted from 1.
    /// - Returns: The delay; zero or less is none.
    /// - Complexity: That of the delay.
    public func duration(after error: any Error, attempt: Int) -> Duration {
      afterFailure(error, attempt)
    }

    /// The same delay each time.
    ///
    /// - Parameter duration: How long. Zero or less is no delay.
    /// - Returns: The delay.
    public static func constant(_ duration: Duration) -> Delay {
      Delay { _, _ in duration }
    }

    /// A delay that grows by a factor each time.
    ///
    /// - Parameters:
    ///   - first: The first delay. Zero or less is no delay.
    ///   - factor: The factor between one delay and the next, 0 or more and finite; anything else
    ///     is a programmer error and traps. Below 1, the delays become shorter.
    ///   - cap: The longest delay.
    /// - Returns: The delay.
    /// - Complexity: O(*n*) for the *n*th retry.
    public static func exponential(
      _ first: Duration, factor: Double = 2, cap: Duration
    ) -> Delay {
      guard factor >= 0, factor.isFinite else {
        fatalError("`factor` must be finite and 0 or more, but it is \(factor).")
      }
      return Delay { _, attempt in
        guard first > .zero else { return first }
        var duration = first
        for _ in 1..<attempt where duration < cap {
          // Compared first, because the product could be too much for a duration.
          guard duration / cap * factor < 1 else { return cap }
          duration = duration * factor
        }
        return min(duration, cap)
      }
    }

    /// A delay that depends on the error, such as the one that a server asks for.
    ///
    /// ```swift
    /// struct TooManyRequests: Error { var retryAfter: Duration }
    ///
    /// let backoff = RetryInterceptor.Delay.exponential(.seconds(1), cap: .seconds(30))
    /// let delay = RetryInterceptor.Delay.custom { error, attempt in
    ///   (error as? TooManyRequests)?.retryAfter
    ///     ?? backoff.duration(after: error, attempt: attempt)
    /// }
    /// ```
    ///
    /// - Parameter duration: Returns the delay after a failure: zero or less is no delay. It gets
    ///   the error and the number of the attempt that failed, counted from 1. It runs on no actor.
    /// - Returns: The delay.
    public static func custom(
      _ duration: @escaping @Sendable (_ error: any Error, _ attempt: Int) -> Duration
    ) -> Delay {
      Delay(afterFailure: duration)
    }

    /// Adds jitter: subtracts a random fraction of each delay, so that clients that failed together
    /// don't retry in lockstep.
    ///
    /// - Parameters:
    ///   - fraction: The greatest part of a delay to subtract, from 0 to 1; anything else is a
    ///     programmer error and traps.
    ///   - generator: Gives one number, from which all fractions are derived. In a test, pass a
    ///     generator with a fixed seed, so that each run has the same delays.
    /// - Returns: The delay.
    /// - Complexity: O(1), plus the complexity of the delay without jitter.
    public func jittered(by fraction: Double, using generator: some RandomNumberGenerator) -> Delay
    {
      guard (0...1).contains(fraction) else {
        fatalError("`fraction` must be from 0 to 1, but it is \(fraction).")
      }
      var generator = generator
      let dice = Dice(seed: generator.next())
      return Delay { error, attempt in
        // Subtracted, because the longest duration times 1 is too much for a duration.
        let delay = afterFailure(error, attempt)
        return delay - delay * (fraction * dice.roll())
      }
    }
  }
}

/// The pauses of the retries on one queue.
struct RetryPauses: ~Copyable, Sendable {
  private let sleepers = Lock((last: 0, tasks: [Int: Task<Void, any Error>]()))

  /// Returns when the time has passed, or at `end()`.
  func pause(for duration: Duration, on clock: any Clock<Duration>) async throws {
    let sleep = clock.sleeper(for: duration)
    let (number, sleeper) = sleepers.withLock { sleepers in
      // Made under the lock: a pause that has begun is known to `end()`.
      let sleeper = Task { try await sleep({}) }
      sleepers.last += 1
      sleepers.tasks[sleepers.last] = sleeper
      return (sleepers.last, sleeper)
    }
    let result = await withTaskCancellationHandler {
      await sleeper.result
    } onCancel: {
      sleeper.cancel()
    }
    _ = sleepers.withLock { $0.tasks.removeValue(forKey: number) }
    try Task.checkCancellation()
    if case .failure(let error) = result, !sleeper.isCancelled { throw error }
  }

  /// Ends the pauses.
  func end() {
    for sleeper in sleepers.withLock({ $0.tasks.values }) { sleeper.cancel() }
  }
}

/// Random numbers for several bodies at a time, without a lock: SplitMix64 (Steele, Lea, Flood,
/// 2014), whose state is a sum.
private final class Dice: Sendable {
  private let state: Atomic<UInt64>

  init(seed: UInt64) {
    state = Atomic(seed)
  }

  /// Returns a number from 0 up to 1.
  func roll() -> Double {
    var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((bits ^ (bits >> 31)) >> 11) * 0x1p-53
  }
}
