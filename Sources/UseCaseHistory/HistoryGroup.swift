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
  private let line: GroupLine
  private let operation: UseCaseOperation<String, HistoryEntry?>
  /// Why the group can never begin.
  private let refusal: HistoryError?

  init(
    _ history: UseCaseHistory, _ line: GroupLine,
    _ operation: UseCaseOperation<String, HistoryEntry?>, refusal: HistoryError?
  ) {
    (self.history, self.line) = (history, line)
    (self.operation, self.refusal) = (operation, refusal)
  }

  deinit { line.parts.close() }

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
    part(request) { useCase.recordedOnce(in: history, on: line).execute(request) }
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
    part(request) {
      useCase.recordedOnce(in: history, on: line).execute(request, onUpdate: onUpdate)
    }
  }

  private func part<Request, Response>(
    _ request: Request, _ execute: () -> UseCaseOperation<Request, Response>
  ) -> UseCaseOperation<Request, Response> {
    guard refusal == nil, line.parts.isOpen else {
      return UseCaseHistory.refuse(request, refusal ?? .outOfTurn)
    }
    return HistoryFrame.outside(execute)
  }

  /// Closes the group. It becomes an entry when all of its parts have ended. A group without parts
  /// leaves no trace.
  ///
  /// - Returns: The operation of the group, the same one at each call. Its response is the entry,
  ///   `nil` if there is none. It is cancelled if the group is, and fails with:
  ///   - ``HistoryGroupError`` if the group is cancelled, and the undo of a part fails
  ///   - ``HistoryError/reentrant`` if the group was opened inside a recorded body, an undo or a redo
  ///   - ``HistoryError/outOfTurn`` beside another group that is held open in the body of a group
  ///   - ``HistoryError/tooDeep`` inside of a thousand groups
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written
  /// - Complexity: O(*n*) in the number of parts.
  @discardableResult
  public func close() -> UseCaseOperation<String, HistoryEntry?> {
    line.parts.close()
    return operation
  }

  /// Cancels the parts that run and wait, undoes the others in reverse, and records nothing. After
  /// ``close()``, `cancel()` does nothing.
  ///
  /// - Complexity: O(*n*) in the number of parts.
  public func cancel() {
    guard line.parts.isOpen else { return }
    // A group that has begun has to undo its parts before its operation ends.
    if !line.cancel() { operation.cancel() }
  }
}

extension UseCaseHistory {
  /// Opens a group for parts that come from events, and asks for the lane.
  ///
  /// Inside the body of a group it is a nested one. What the body executes waits until it ends.
  /// Until it is closed, a call in the body, a group in it and another `openGroup` fail with
  /// ``HistoryError/outOfTurn``. Inside a recorded body, an undo or a redo, the operations of the
  /// group fail with ``HistoryError/reentrant``.
  ///
  /// - Parameter title: The title of the group for the user interface.
  /// - Returns: The group. Close it, cancel it, or let it go: until then, all else that is asked of
  ///   the history waits.
  public func openGroup(_ title: String) -> HistoryGroup {
    switch placeOfGroup {
    case .refused(let error):
      let line = GroupLine(inside: nil, on: queue, observer: observer, isHeld: true)
      return HistoryGroup(self, line, Self.refuse(title, error), refusal: error)
    case .lane(let outer):
      let line = GroupLine(inside: outer, on: queue, observer: observer, isHeld: true)
      let operation = execute(title, in: outer, on: line) {
        await line.parts.hold()
      } answer: { _, entry in
        entry()
      }
      // It may never begin.
      operation.onCancel { _ in line.cancel() }
      return HistoryGroup(self, line, operation, refusal: nil)
    }
  }
}
