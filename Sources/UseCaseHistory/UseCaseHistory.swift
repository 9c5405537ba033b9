public import UseCase
import UseCaseInternals

/// An undo stack for asynchronous actions: it records executions, and undoes and redoes them in
/// order.
///
/// ```swift
/// let history = UseCaseHistory()
/// let rename = Rename(document: document).recorded(in: history)
/// rename.execute("Report")
/// history.undo()
/// history.redo().then { entry in print(entry?.title ?? "nothing") }  // Rename
/// ```
///
/// A history runs its executions, undos and redos on its *lane*, a serial queue, in the order in
/// which you call them. If executions wait or run, ``undo()`` undoes the last of them. A failure
/// loses nothing: after a failed execution, the undone entries are still there, and a failed undo
/// can be tried again.
///
/// An execution that returns a response becomes an *entry*. A history is *clean* when it has no
/// unsaved changes: see ``markSaved(_:)``.
public final class UseCaseHistory: Sendable {
  let lane: HistoryLane
  /// The serial queue on which everything runs.
  let queue: UseCaseQueue
  let observer: (@Sendable (UseCaseEvent) -> Void)?
  /// Runs what belongs to an operation on the lane, and must not end with it.
  let aside: UseCaseQueue

  /// Creates an empty history. It is clean: it has no unsaved changes.
  ///
  /// - Parameters:
  ///   - limit: How many applied entries are kept, `nil` for all. A negative limit is a programmer
  ///     error and traps.
  ///   - mergeWindow: The longest time between the calls of two executions that can merge.
  ///   - clock: Measures the merge window, and the timeouts of the recorded use cases.
  ///   - observer: Receives the events of the executions, undos, redos, moves and groups, as the
  ///     observer of a queue does. Their names are the titles: "Rename", "Undo Rename", "Move".
  public convenience init(
    limit: Int? = nil, mergeWindow: Duration = .milliseconds(500),
    clock: any Clock<Duration> = ContinuousClock(),
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    Self.check(limit)
    self.init(HistoryLane(limit: limit, mergeWindow: mergeWindow, clock: clock), clock, observer)
  }

  init(
    _ lane: HistoryLane, _ clock: any Clock<Duration>,
    _ observer: (@Sendable (UseCaseEvent) -> Void)?
  ) {
    self.lane = lane
    self.observer = observer.map { lane.telling($0) }
    queue = UseCaseQueue(delegate: lane, clock: clock, observer: self.observer)
    lane.follow(queue)
    aside = UseCaseQueue(.unlimited, delegate: nil, inside: queue, clock: clock, observer: nil)
  }

  static func check(_ limit: Int?) {
    guard limit ?? 0 >= 0 else {
      fatalError("`limit` must be 0 or more, or nil for no limit.")
    }
  }
}

extension UseCaseHistory {
  /// Executes the request on the lane, and records the execution as soon as there is a response. If
  /// `main` throws or doesn't run, nothing is recorded.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  /// - Returns: The operation. It fails with:
  ///   - the error of the use case
  ///   - `UseCaseTimeout`; a late response is still recorded
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written, or the
  ///     use case wasn't passed to `open`
  /// - Complexity: O(*n*) in the number of entries that it discards, otherwise O(1).
  @inlinable @discardableResult
  public func execute<Base: UndoableUseCase>(
    _ useCase: Base, _ request: Base.Request
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    useCase.recordedOnce(in: self).execute(request)
  }

  /// Executes the request as ``execute(_:_:)`` does, and passes the updates to `onUpdate`.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  ///   - onUpdate: Receives the updates in the order in which they were reported, in the isolation
  ///     of the code that passes the closure, before any `then`, `catch`, `common` or `finally`.
  ///     Updates that are reported after the outcome are discarded.
  /// - Returns: The operation. It fails as that of ``execute(_:_:)`` does.
  /// - Complexity: O(*n*) in the number of entries that it discards, otherwise O(1).
  @discardableResult
  public func execute<Base: UndoableUseCase & ReportingUseCase>(
    _ useCase: Base, _ request: Base.Request,
    @_inheritActorContext onUpdate: @escaping @isolated(any) @Sendable (Base.Update) -> Void
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    useCase.recordedOnce(in: self).execute(request, onUpdate: onUpdate)
  }

  /// Undoes the newest applied entry. If operations wait or run, `undo()` targets the entry that
  /// will be the newest once they have succeeded.
  ///
  /// - Returns: An operation whose response is the undone entry, `nil` if there was nothing to
  ///   undo. It fails with:
  ///   - the error of the use case's `undo`; you can then try again
  ///   - `UseCaseTimeout`; an undo that returns late still counts
  ///   - ``HistoryError/outOfTurn`` if the entry is not the newest applied one after all
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written, or the
  ///     entry can't be read
  /// - Complexity: O(*n*) in the number of parts of a group and of operations that wait, otherwise
  ///   O(1).
  @discardableResult
  public func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undo) { $0.first }
  }

  /// Redoes the next undone entry. If operations wait or run, `redo()` targets the entry that will
  /// be next once they have succeeded.
  ///
  /// An execution or a group discards undone entries when it is recorded. If one of them waits
  /// or runs, and its success would leave nothing to redo, `redo()` targets the entry that will be
  /// next if the execution or group fails.
  ///
  /// - Returns: An operation whose response is the redone entry, `nil` if there was nothing to
  ///   redo. It fails with:
  ///   - the error of the use case's `redo`; you can then try again
  ///   - `UseCaseTimeout`; a redo that returns late still counts
  ///   - ``HistoryError/outOfTurn`` if the entry is not the next undone one after all, for example
  ///     because an execution has succeeded
  ///   - ``HistoryError/blocked(by:)`` if a group that was interrupted has to be undone before
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written, or the
  ///     entry can't be read
  /// - Complexity: O(*n*) in the number of parts of a group and of operations that wait, otherwise
  ///   O(1).
  @discardableResult
  public func redo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.redo) { $0.first }
  }

  /// Undoes this entry, wherever it is, unless a later applied entry overlaps it.
  ///
  /// ```swift
  /// let undo = history.undo(deletion).catch(HistoryError.self) { error in
  ///   if case .blocked(let later) = error { selection.select(later) }
  /// }
  /// ```
  ///
  /// Entries overlap if their footprints do: see ``UndoableUseCase/footprint(of:_:)``. By default,
  /// a footprint is everything, and only the newest entry can be undone.
  ///
  /// The undone entry becomes the next one to redo. Redoing the entry makes it the newest applied
  /// entry. The order of the other entries doesn't change. A partly undone group blocks all older
  /// entries.
  ///
  /// - Parameter entry: The entry.
  /// - Returns: An operation whose response is the undone entry, `nil` if it was undone already. It
  ///   fails with:
  ///   - the error of the use case's `undo`
  ///   - ``HistoryError/blocked(by:)`` if later entries have to be undone first
  ///   - ``HistoryError/unknownEntry(_:)`` if the entry is not in the history when the operation
  ///     begins
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written, or the
  ///     entry can't be read, or is an execution in doubt
  /// - Complexity: O(*n*) in the number of later entries that overlap it, and in the number of
  ///   parts of a group. Later entries move by one slot of an array, which takes little time. For an
  ///   entry whose footprint is everything, O(*n*) in the number of later entries.
  @discardableResult
  public func undo(
    _ entry: HistoryEntry.ID
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undoEntry(entry)) { $0.first }
  }

  /// Redoes this entry, wherever it is, unless another undone entry that would be redone before it
  /// overlaps it. The redone entry becomes the newest applied one.
  ///
  /// - Parameter entry: The entry.
  /// - Returns: An operation whose response is the redone entry, `nil` if it was redone already. It
  ///   fails with:
  ///   - the error of the use case's `redo`
  ///   - ``HistoryError/blocked(by:)`` if other entries have to be redone first
  ///   - ``HistoryError/unknownEntry(_:)``, ``HistoryError/reentrant`` or a ``HistoryJournalError``,
  ///     as an undo does
  /// - Complexity: The same as ``undo(_:)``, with the undone entries.
  @discardableResult
  public func redo(
    _ entry: HistoryEntry.ID
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.redoEntry(entry)) { $0.first }
  }

  /// Undoes the newest applied entry that overlaps the document, wherever it is.
  ///
  /// ```swift
  /// history.undo(in: .keys(note.id))
  /// ```
  ///
  /// Executions that wait or run count: by ``UndoableUseCase/footprint(of:)``, and if that is `nil`,
  /// for every document, as groups do.
  ///
  /// - Parameter document: The keys of the document. ``HistoryFootprint/everything`` is the whole
  ///   history: this is then ``undo()``.
  /// - Returns: An operation whose response is the undone entry, `nil` if there was nothing to
  ///   undo. It fails with:
  ///   - the error of the use case's `undo`
  ///   - ``HistoryError/blocked(by:)`` if a later entry overlaps the entry, such as an edit of
  ///     another document that the entry touches, too
  ///   - ``HistoryError/outOfTurn`` if the entry is not applied after all, or doesn't touch the
  ///     document
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group
  ///   - ``HistoryJournalError``, in a history with a journal
  /// - Complexity: The same as ``undo(_:)``, and O(*n*) in the number of operations that wait.
  @discardableResult
  public func undo(
    in document: HistoryFootprint
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    if document == .everything { return undo() }
    return execute(.undoIn(document)) { $0.first }
  }

  /// Redoes the next undone entry that overlaps the document, wherever it is.
  ///
  /// - Parameter document: The keys of the document. ``HistoryFootprint/everything`` is the whole
  ///   history: this is then ``redo()``.
  /// - Returns: An operation whose response is the redone entry, `nil` if there was nothing to
  ///   redo. It fails with the errors of ``undo(in:)``, and with ``HistoryError/outOfTurn`` if an
  ///   execution has discarded the entry meanwhile.
  /// - Complexity: The same as ``undo(in:)``.
  @discardableResult
  public func redo(
    in document: HistoryFootprint
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    if document == .everything { return redo() }
    return execute(.redoIn(document)) { $0.first }
  }

  /// Undoes or redoes until `entry` is the newest applied one. The move stops at an undo or a redo
  /// that fails.
  ///
  /// - Parameter entry: The entry, or `nil` to undo all.
  /// - Returns: An operation whose response is the entries that it has undone or redone, in the
  ///   order in which it did so. It fails with:
  ///   - the error of an undo or a redo
  ///   - ``HistoryError/unknownEntry(_:)`` if the entry is not in the history when the operation
  ///     begins
  ///   - ``HistoryError/blocked(by:)`` if a group that was interrupted has to be undone before
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written, an entry
  ///     can't be read, or the goal is an execution in doubt
  /// - Complexity: O(*n*) in the number of entries to undo or redo.
  @discardableResult
  public func move(to entry: HistoryEntry.ID?) -> UseCaseOperation<HistoryMove, [HistoryEntry]> {
    execute(.move(entry)) { $0 }
  }

  /// Runs `body` on the lane, without interruption by other operations of the history, and records
  /// the calls in it as one entry.
  ///
  /// ```swift
  /// history.group("Replace all") {
  ///   for place in places { _ = try await replace(place) }
  /// }
  /// ```
  ///
  /// Each call of a use case that is recorded in this history, as in `try await useCase(request)`,
  /// is a *part* of the group. So is a group inside the group, and what the body executes with
  /// `execute`: such parts run one after the other, in the order of the calls. If the body throws, the
  /// parts are undone, and nothing is recorded. A group ends when all of its parts have ended.
  ///
  /// An undoable use case that isn't recorded would have an effect that is in no entry. To execute one
  /// in the body of a group is a programmer error and traps in a debug build.
  ///
  /// - Parameters:
  ///   - title: The title of the group for the user interface.
  ///   - body: Executes the parts, in the isolation of the code that passes it.
  /// - Returns: An operation whose response is what the body returns. It fails with:
  ///   - the error of the body
  ///   - ``HistoryGroupError`` if the body throws, and the undo of a part fails, too
  ///   - ``HistoryError/reentrant`` inside a recorded body, an undo or a redo
  ///   - ``HistoryError/outOfTurn`` beside a group that is held open in the body of a group
  ///   - ``HistoryError/tooDeep`` inside of a thousand groups
  ///   - ``HistoryJournalError``, in a history with a journal: the journal can't be written
  /// - Complexity: O(*n*) in the number of parts.
  @discardableResult
  public func group<Value: Sendable>(
    _ title: String,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable () async throws -> Value
  ) -> UseCaseOperation<String, Value> {
    switch placeOfGroup {
    case .refused(let error): return Self.refuse(title, error)
    case .lane(let outer):
      let line = GroupLine(inside: outer, on: queue, observer: observer, isHeld: false)
      return execute(title, in: outer, on: line, body) { value, _ in value }
    }
  }

  enum GroupPlace {
    case refused(HistoryError)
    case lane(inside: GroupLine?)
  }

  /// Where a group goes that is executed here.
  var placeOfGroup: GroupPlace {
    switch roleHere {
    case .body, .answered: return .refused(.reentrant)
    case nil: return .lane(inside: nil)
    case .group(let line):
      if line.depth >= HistoryLane.Machine.Table.deepest { return .refused(.tooDeep) }
      return line.parts.holdsGroup ? .refused(.outOfTurn) : .lane(inside: line)
    }
  }

  func execute<Value: Sendable, Answer: Sendable>(
    _ title: String, in outer: GroupLine?, on line: GroupLine,
    _ body: @escaping @isolated(any) @Sendable () async throws -> Value,
    answer: @escaping @Sendable (Value, _ entry: () -> HistoryEntry?) -> Answer
  ) -> UseCaseOperation<String, Answer> {
    let group = Group(
      lane: lane, queue: outer?.queue ?? queue, aside: aside, outer: outer, line: line, body: body,
      answer: answer)
    return outer == nil ? HistoryFrame.outside { group.execute(title) } : group.execute(title)
  }

  /// Waits until nothing runs or waits on the lane, and the journal, if there is one, is up to
  /// date.
  ///
  /// If nothing runs or waits, and the journal is up to date, `idle()` returns at once. If a write
  /// to the journal fails, `idle()` returns, too: see ``journalError``. The cancellation of the
  /// awaiting task changes nothing.
  ///
  /// Don't await `idle()` inside a recorded body, an undo, a redo or a group: it would never
  /// return.
  public func idle() async {
    await queue.idle()
    await lane.journal?.settleAll(lane)
  }
}

extension UseCaseHistory {
  /// The role in this history of the running code. Nil if it does not run on the lane.
  var roleHere: HistoryFrame.Role? {
    guard let frame = HistoryFrame.current(in: lane.history), queue.isHeldHere else { return nil }
    return frame.role
  }

  /// The line of the group in whose body the code runs.
  var groupHere: GroupLine? {
    if case .group(let line)? = roleHere { line } else { nil }
  }

  private func execute<Answer>(
    _ move: HistoryMove, _ answer: @escaping @Sendable ([HistoryEntry]) -> Answer
  ) -> UseCaseOperation<HistoryMove, Answer> {
    guard roleHere == nil else { return Self.refuse(move, .reentrant) }
    return HistoryFrame.outside {
      Move(lane: lane, queue: queue, answer: answer).execute(move)
    }
  }

  /// Runs operations that are refused. Not the default queue, which a client may suspend.
  private static let refusals = UseCaseQueue()

  /// Returns an operation that fails. On the lane, a body that awaits it would wait for ever.
  static func refuse<Request, Response>(
    _ request: Request, _ error: HistoryError
  ) -> UseCaseOperation<Request, Response> {
    AnyUseCase(queue: refusals) { _ in throw error }.execute(request)
  }
}
