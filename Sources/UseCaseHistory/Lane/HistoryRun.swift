import UseCase
import UseCaseInternals

/// The end of a `main`, an `undo` or a `redo` that has run with interceptors around it.
struct HistoryRun<Value: Sendable>: Sendable {
  /// The value that it has returned, nil if it has not.
  let returned: Value?
  /// The value or the error that the interceptors have made of it.
  let answer: Result<Value, any Error>

  /// Returns the effect of an undo or a redo, and the error that came after it. Throws if there is no
  /// effect, also if an interceptor has answered in its place.
  func effect() throws -> (value: Value, failure: (any Error)?) {
    switch (returned, answer) {
    case (let value?, .success): return (value, nil)
    case (let value?, .failure(let error)): return (value, error)
    case (nil, .failure(let error)): throw error
    case (nil, .success): throw CancellationError()
    }
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
  func run<Value: Sendable>(
    _ request: Request, timeout: Duration = UseCaseTimeout.never,
    _ body: @escaping @Sendable (Request) async throws -> Value
  ) async -> HistoryRun<Value> {
    let timer = QueuePlace.timer(timeout)
    defer { timer?.cancel() }
    let queue = queue(for: request)
    if queue.isPlain {
      do {
        let value = try await body(request)
        return HistoryRun(returned: value, answer: .success(value))
      } catch {
        return HistoryRun(returned: nil, answer: .failure(error))
      }
    }
    let calls = Lock(Calls<Value>())
    let answer: Result<Value, any Error>
    do {
      let value = try await queue.intercept(request, of: Self.self) { request in
        calls.withLock { $0.running += 1 }
        do {
          let value = try await body(request)
          calls.withLock { $0.end(with: value) }?.resume()
          return value
        } catch {
          calls.withLock { $0.end(with: nil) }?.resume()
          throw error
        }
      }
      answer = .success(value)
    } catch {
      answer = .failure(error)
    }
    // An interceptor may have left a call behind, which has its effect later.
    await withUnsafeContinuation { waiter in
      calls.withLock { $0.wait(waiter) }?.resume()
    }
    return HistoryRun(returned: calls.withLock { $0.returned }, answer: answer)
  }
}

/// The calls of a body by its interceptors.
private struct Calls<Value: Sendable> {
  var running = 0
  /// The value that was returned last.
  private(set) var returned: Value?
  private var waiter: UnsafeContinuation<Void, Never>?

  /// A call has ended. After the last one, this returns the waiter.
  mutating func end(with value: Value?) -> UnsafeContinuation<Void, Never>? {
    running -= 1
    if let value { returned = value }
    return running == 0 ? waiter.take() : nil
  }

  /// Keeps the waiter until no call runs. Returns it if none does.
  mutating func wait(
    _ waiter: UnsafeContinuation<Void, Never>
  ) -> UnsafeContinuation<Void, Never>? {
    if running == 0 { return waiter }
    self.waiter = waiter
    return nil
  }
}
