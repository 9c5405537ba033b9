import UseCase

/// One execution that can be undone, whatever the types of its request and response.
///
/// A step never changes: a redo makes another one, with the new response.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  /// Whether it can be undone and redone as it is.
  var standing: HistoryEntry.Standing { get }
  var footprint: HistoryFootprint { get }
  /// Throws if it is not undone. Returns the error of an interceptor that came after that.
  ///
  /// The scope is nil, except for a step of a journal that has transactions.
  func undo(in scope: StepScope?) async throws -> (any Error)?
  /// Throws if it is not redone. Returns the new step, and the error that came after that.
  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?)
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  /// Tells the use case. Returns false if that is left to a version of the app that can read it.
  @discardableResult
  func discard(_ reason: HistoryDiscardReason) -> Bool
  /// Its undo or redo has thrown `HistoryObsolete`. Returns the id of the place that the rest of its
  /// group is.
  func noteObsolete() -> HistoryEntry.ID
  /// What a journal keeps of it.
  var values: (useCase: any Any.Type, request: Any, response: Any) { get }
}

/// Runs a body in a transaction, inside of all interceptors, and returns the step that the body has
/// made or undone.
typealias StepScope =
  @Sendable (_ body: @Sendable () async throws -> any HistoryStep) async throws
  -> any HistoryStep

extension HistoryRecord<any HistoryStep> {
  var title: String {
    switch content {
    case .single(let step): step.title
    case .keyed(let keyed): keyed.step.title
    case .group(let group): group.title
    }
  }

  /// Returns the record as clients see it, with so many steps applied.
  func entry(applied: Int) -> HistoryEntry {
    entry(applied: applied, title: { $0.title }, standing: { $0.standing })
  }
}

extension HistoryStep {
  var standing: HistoryEntry.Standing { .normal }
  func noteObsolete() -> HistoryEntry.ID { .next() }
}

extension HistoryRecord.Content where Step == any HistoryStep {
  /// Asks the use case for the footprint of the step. Call it outside of locks.
  init(_ step: any HistoryStep) { self.init(step, touching: step.footprint) }
}

extension HistoryPlan<any HistoryStep> {
  /// The entries that have been undone or redone, in this order.
  var entries: [HistoryEntry] {
    (0..<moved).compactMap { isObsolete($0) ? nil : entry(at: $0) }
  }

  var entry: HistoryEntry? { hasResult ? entry(at: 0) : nil }

  private func entry(at index: Int) -> HistoryEntry {
    let record = records[index]
    return record.entry(applied: isRedo ? record.size : 0)
  }
}

/// The fate of a step that is recorded right behind another.
enum HistoryMerging<Step: Sendable>: Sendable {
  case separate
  case merged(Step)
  case annul

  func map<Other>(_ transform: (Step) -> Other) -> HistoryMerging<Other> {
    switch self {
    case .separate: .separate
    case .merged(let step): .merged(transform(step))
    case .annul: .annul
    }
  }
}

/// The copies of one recorded use case, which merge with each other.
final class RecordedIdentity: Sendable {}

/// An execution of a use case of a certain type.
final class RecordedStep<Base: UndoableUseCase>: HistoryStep {
  let useCase: Base
  private let identity: RecordedIdentity?
  let request: Base.Request
  let response: Base.Response

  init(
    _ useCase: Base, _ identity: RecordedIdentity?, _ request: Base.Request,
    _ response: Base.Response
  ) {
    (self.useCase, self.identity, self.request, self.response) = (
      useCase, identity, request, response
    )
  }

  var title: String { useCase.title(for: request) }

  var footprint: HistoryFootprint { useCase.footprint(of: request, response) }

  // Inlined into the witness: each function that waits costs a frame on the stack of the task.
  @inline(__always)
  func undo(in scope: StepScope?) async throws -> (any Error)? {
    guard scope == nil, useCase.isPlain(request) else { return try await undoAround(scope) }
    try await useCase.undo(request, response)
    return nil
  }

  @inline(__always)
  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?) {
    guard scope == nil, useCase.isPlain(request) else { return try await redoAround(scope) }
    return (redone(try await useCase.redo(request, response)), nil)
  }

  private func redone(_ response: Base.Response) -> RecordedStep {
    RecordedStep(useCase, identity, request, response)
  }

  private func undoAround(_ scope: StepScope?) async throws -> (any Error)? {
    let attempts = Attempts(in: scope)
    return try await run(attempts) { [self] request in
      _ = try await attempts.run {
        try await useCase.undo(request, response)
        return self
      }
    }.failure
  }

  private func redoAround(
    _ scope: StepScope?
  ) async throws -> (any HistoryStep, failure: (any Error)?) {
    let attempts = Attempts(in: scope)
    return try await run(attempts) { [self] request in
      try await attempts.run { redone(try await useCase.redo(request, response)) }.response
    }
  }

  /// Runs an undo or a redo with all that may be around it. Returns its step, and the error that came
  /// after it. Throws if there is no effect, also if an interceptor has answered in its place.
  private func run<Answer: Sendable>(
    _ attempts: Attempts, body: @escaping @Sendable (Base.Request) async throws -> Answer
  ) async throws -> (any HistoryStep, failure: (any Error)?) {
    var failure: (any Error)?
    do {
      _ = try await useCase.queue(for: request).run(
        request, of: Base.self, timeout: useCase.timeout, body: body)
    } catch {
      failure = error
    }
    guard let step = await attempts.lastStep() else { throw failure ?? CancellationError() }
    return (step, failure)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? Self else { return .separate }
    let merge = later.useCase.merge((request, response), (later.request, later.response))
    if case .separate = merge { return .separate }
    guard isOfSameUseCase(as: later) else { return .separate }
    switch merge {
    case .separate: return .separate
    case .merged(let request, let response):
      return .merged(RecordedStep(useCase, identity, request, response))
    case .annul: return .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) -> Bool {
    useCase.discard(request, response, reason)
    return true
  }

  var values: (useCase: any Any.Type, request: Any, response: Any) {
    (Base.self, request, response)
  }

  private func isOfSameUseCase(as other: RecordedStep) -> Bool {
    if let identity, identity === other.identity { return true }
    if let useCase = useCase as? any Equatable { return isEqual(useCase, other.useCase) }
    return Base.self is AnyObject.Type && useCase as AnyObject === other.useCase as AnyObject
  }
}

private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
  value == other as? Value
}
