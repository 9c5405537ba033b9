public import UseCase

/// A group that is held open for parts that come from events: a drag, a stroke, a dialog.
///
/// ```swift
/// let drag = history.openGroup("Move")  // the pointer goes down
/// drag.execute(move, point)  // it moves
/// drag.close()  // it goes up: one entry
/// ```
///
/// The group has the lane of the history until it ends, and `undo()` is for the group. The parts run
/// in the order of the calls. A part that fails is no part, and the group goes on. When the last
/// reference to an open group goes away, the group is closed.
public final class HistoryGroup: Sendable {
  private let history: UseCaseHistory
  private let parts: HeldParts
  private let operation: UseCaseOperation<String, HistoryEntry?>
  /// Why the group can never begin.
  private let refusal: HistoryError?

  init(
    _ history: UseCaseHistory, _ parts: HeldParts,
    _ operation: UseCaseOperation<String, HistoryEntry?>, refusal: HistoryError?
  ) {
    (self.history, self.parts) = (history, parts)
    (self.operation, self.refusal) = (operation, refusal)
  }

  deinit { parts.close() }

  /// Executes the request as a part of the group, as soon as the group has the lane and the parts
  /// before have ended.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  /// - Returns: The operation of the part. It fails with:
  ///   - the errors of ``UseCaseHistory/execute(_:_:)``
  ///   - ``HistoryError/outOfTurn`` after ``close()`` or ``cancel()``
  ///   - ``HistoryError/reentrant`` if the group was opened inside a recorded body, an undo or a redo
  @discardableResult
  public func execute<Base: UndoableUseCase>(
    _ useCase: Base, _ request: Base.Request
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    part(request) { number in
      HeldPart(recorded: useCase.recordedOnce(in: history), parts: parts, number: number)
        .execute(request)
    }
  }

  /// Executes the request as ``execute(_:_:)`` does, and passes the updates to `onUpdate`.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  ///   - onUpdate: Receives the updates in the order in which they were reported, in the isolation
  ///     of the code that passes it.
  /// - Returns: The operation of the part.
  @discardableResult
  public func execute<Base: UndoableUseCase & ReportingUseCase>(
    _ useCase: Base, _ request: Base.Request,
    @_inheritActorContext onUpdate: @escaping @isolated(any) @Sendable (Base.Update) -> Void
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    part(request) { number in
      HeldPart(recorded: useCase.recordedOnce(in: history), parts: parts, number: number)
        .execute(request, onUpdate: onUpdate)
    }
  }

  private func part<Request, Response>(
    _ request: Request, _ execute: (Int) -> UseCaseOperation<Request, Response>
  ) -> UseCaseOperation<Request, Response> {
    guard refusal == nil, let number = parts.admit() else {
      return UseCaseHistory.refuse(request, refusal ?? .outOfTurn)
    }
    let operation = HistoryFrame.outside(of: .innermost) { execute(number) }
    parts.admitted(number) { operation.cancel() }
    return operation
  }

  /// Closes the group. It becomes an entry when all of its parts have ended. A group without parts
  /// leaves no trace.
  ///
  /// - Returns: The operation of the group, the same one at each call. Its response is the entry,
  ///   `nil` if there is none. It is cancelled if the group is, and fails with:
  ///   - ``HistoryGroupError`` if the group is cancelled, and the undo of a part fails
  ///   - ``HistoryError/reentrant`` if the group was opened inside a recorded body, an undo or a redo
  ///   - ``HistoryError/tooDeep`` inside of a thousand groups
  /// - Complexity: O(*n*) in the number of parts.
  @discardableResult
  public func close() -> UseCaseOperation<String, HistoryEntry?> {
    parts.close()
    return operation
  }

  /// Cancels the parts that wait, undoes the others in reverse, and records nothing. After
  /// ``close()``, `cancel()` does nothing.
  ///
  /// - Complexity: O(*n*) in the number of parts.
  public func cancel() {
    // A group that has begun has to undo its parts before its operation ends.
    if parts.cancel() { operation.cancel() }
  }
}

extension UseCaseHistory {
  /// Opens a group for parts that come from events, and asks for the lane.
  ///
  /// Inside the body of a group it is a nested one. Inside a recorded body, an undo or a redo, its
  /// operations fail with ``HistoryError/reentrant``.
  ///
  /// - Parameter title: The title of the group for the user interface.
  /// - Returns: The group. Close it, cancel it, or let it go: until then, all else that is asked of
  ///   the history waits.
  public func openGroup(_ title: String) -> HistoryGroup {
    let parts = HeldParts(clock: lane.clock)
    let (operation, refusal) = execute(title) {
      try await parts.hold()
    } answer: { _, entry in
      entry()
    }
    operation.onCancel { _ in _ = parts.cancel(isForced: true) }
    return HistoryGroup(self, parts, operation, refusal: refusal)
  }
}

/// An execution in a group that is held open.
private struct HeldPart<Base: UndoableUseCase>: UseCase {
  let recorded: RecordedUseCase<Base>
  let parts: HeldParts
  let number: Int

  var queue: UseCaseQueue { parts.queue }

  /// The operation of the part fails at once when it takes too long. The next one waits for its body.
  var timeout: Duration { recorded.timeout }

  func main(_ request: Base.Request) async throws -> Base.Response {
    try await parts.run(number) { [recorded] in try await recorded.callToTheEnd(request) }
  }
}

extension HeldPart: ReportingUseCase where Base: ReportingUseCase {
  func main(
    _ request: Base.Request, report: @escaping @Sendable (Base.Update) -> Void
  ) async throws -> Base.Response {
    try await parts.run(number) { [recorded] in
      try await recorded.callToTheEnd(request, report: report)
    }
  }
}
