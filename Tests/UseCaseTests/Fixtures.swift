import Foundation
import TestSupport
import UseCase

typealias Operation = UseCaseOperation<Int, Int>

/// A use case whose bodies each wait at a gate of their own, and ignore their cancellation, until
/// the test opens it; they answer with the request.
struct Held: UseCase {
  let queue: UseCaseQueue
  let timeout: Duration
  let begun = Log<Int>()
  let returned = Log<Int>()
  let crowd = Crowd()
  private let gates = Watched<[Int: Gate]>([:])

  init(_ policy: UseCaseQueue.Policy = .unlimited) {
    self.init(on: UseCaseQueue(policy))
  }

  init(on queue: UseCaseQueue, timeout: Duration = UseCaseTimeout.never) {
    self.queue = queue
    self.timeout = timeout
  }

  /// On a queue that logs each operation that has to wait.
  init(_ policy: UseCaseQueue.Policy, waits: Log<UseCaseOperationID>) {
    self.init(on: UseCaseQueue(policy) { if $0.kind == .waiting { waits.append($0.id) } })
  }

  func main(_ request: Int) async -> Int {
    crowd.enter()
    begun.append(request)
    await gate(request).passIgnoringCancellation()
    returned.append(request)
    crowd.leave()
    return request
  }

  /// Executes with 1 to `count`, one after the other.
  func executeFirst(_ count: Int) -> [Operation] {
    (1...count).map { execute($0) }
  }

  /// Lets the bodies of these requests return, also those that have not begun yet.
  func open(_ requests: Int...) {
    for request in requests { gate(request).open() }
  }

  func open(_ requests: ClosedRange<Int>) {
    for request in requests { gate(request).open() }
  }

  private func gate(_ request: Int) -> Gate {
    gates.update { gates in
      if let gate = gates[request] { return gate }
      let gate = Gate()
      gates[request] = gate
      return gate
    }
  }
}

/// How many are in at the same time, now and at the most.
final class Crowd: Sendable {
  private let counts = Watched((now: 0, peak: 0))

  var now: Int { counts.value.now }
  var peak: Int { counts.value.peak }

  func enter() {
    counts.update { $0 = ($0.now + 1, max($0.peak, $0.now + 1)) }
  }

  func leave() {
    counts.update { $0.now -= 1 }
  }
}

struct Refused: Error, Equatable {
  var reason = "no"
}

struct Offline: Error, Equatable {}

extension UseCaseOperation {
  /// Attaches a handler of each kind, on no actor, which writes its name.
  func record(in log: Log<String>) -> Self {
    then { log.append("then \($0)") }
      .catch { log.append("catch \($0)") }
      .common { log.append("common") }
      .onCancel { log.append("onCancel \($0)") }
      .finally { log.append("finally") }
  }

  var fate: Character {
    switch outcome {
    case .success: "+"
    case .failure: "F"
    case .cancelled(.requested): "C"
    case .cancelled(.superseded): "S"
    case .cancelled(.dropped): "D"
    case .cancelled(.scopeEnded): "E"
    case .cancelled(.thrown): "T"
    case .cancelled(.closed): "L"
    case nil: state == .waiting ? "W" : "R"
    }
  }

  var cancellation: UseCaseCancellation? {
    if case .cancelled(let reason) = outcome { reason } else { nil }
  }
}

/// A letter for each operation: R runs, W waits, + has succeeded, F has failed, C was cancelled,
/// S superseded, D dropped, E cancelled by its scope, T cancelled itself.
func fates<Response>(_ operations: [UseCaseOperation<Int, Response>]) -> String {
  String(operations.map(\.fate))
}

func allEnded<Response>(_ operations: [UseCaseOperation<Int, Response>]) async {
  for operation in operations { await operation.ended() }
}

/// Runs the body on a thread of its own, which no task runs on.
func onThread(_ body: @escaping @Sendable () -> Void) {
  Thread.detachNewThread(body)
}

/// Keeps this thread, and the main actor with it, busy until the condition holds.
func holdThread(until condition: () -> Bool) {
  while !condition() { yieldThread() }
}

func yieldThread() {
  sched_yield()
}

/// A use case that waits at a gate, reports 1 to its request, and answers with it.
struct Counting: ReportingUseCase {
  let queue: UseCaseQueue
  let timeout: Duration
  let failure: Refused?
  let waiting = Gate()
  let gate = Gate()

  init(on queue: UseCaseQueue, timeout: Duration = UseCaseTimeout.never, failure: Refused? = nil) {
    self.queue = queue
    self.timeout = timeout
    self.failure = failure
  }

  func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async throws -> Int {
    waiting.open()
    await gate.passIgnoringCancellation()
    for number in 1...request { report(number) }
    if let failure { throw failure }
    return request
  }
}

/// Answers in place of the body.
struct Answering: UseCaseInterceptor {
  let answer: @Sendable () throws -> Int

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    if let answer = try answer() as? Response { return answer }
    return try await next(request)
  }
}

/// Notes each execution, then lets it go on as it is.
struct Noting: UseCaseInterceptor {
  let note: @Sendable (UseCaseOperationID, String) -> Void

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    note(execution.id, execution.useCase)
    return try await next(request)
  }
}
