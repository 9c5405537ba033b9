public import UseCase

/// An undo stack for asynchronous actions: it records executions, and undoes and redoes them in order.
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
/// which you call them. An undo that you call while executions wait is for the last of these. A
/// failure loses nothing: after a failed execution the undone entries are still there, and a failed
/// undo can be tried again.
///
/// An execution that returns a response becomes an *entry*. A history is *clean* when it has no
/// unsaved changes: see ``markSaved(_:)``.
public final class UseCaseHistory: Sendable {
  @usableFromInline let core: HistoryCore
  private var ledger: HistoryLedger { core.ledger }

  /// Creates an empty history. It is clean: it has no unsaved changes.
  ///
  /// - Parameters:
  ///   - limit: How many applied entries are kept, `nil` for all. Below 0 it is a programmer error
  ///     and traps.
  ///   - mergeWindow: The longest time between two executions that can merge.
  ///   - clock: Measures the merge window, and the timeouts of the recorded use cases.
  public init(
    limit: Int? = nil, mergeWindow: Duration = .milliseconds(500),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    Self.check(limit)
    core = HistoryCore(limit: limit, mergeWindow: mergeWindow, clock: clock)
  }

  init(core: HistoryCore) {
    self.core = core
  }

  static func check(_ limit: Int?) {
    guard limit ?? 0 >= 0 else {
      fatalError("`limit` must be 0 or more, or nil for no limit.")
    }
  }
}

// MARK: - Asking

extension UseCaseHistory {
  /// Executes the request on the lane, and records the execution as soon as there is a response.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  /// - Returns: The operation. It fails with whatever `useCase` throws; then nothing is recorded.
  /// - Complexity: O(1), and O(*n*) in the number of entries that it discards.
  @inlinable @discardableResult
  public func execute<Base: UndoableUseCase>(
    _ useCase: Base, _ request: Base.Request
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    useCase.recorded(in: self).execute(request)
  }

  /// Undoes the newest applied entry. If operations wait or run, that is the entry that will be the
  /// newest one once they have ended.
  ///
  /// - Returns: An operation whose response is the undone entry, `nil` if there was nothing to
  ///   undo. It fails with the error of the use case's `undo`, and can then be tried again; with
  ///   ``HistoryError/outOfTurn`` if the entry is not the newest applied one after all; with
  ///   ``HistoryError/reentrant`` inside a recorded body, an undo, a redo or a group.
  /// - Complexity: O(1), and O(*n*) in the number of parts of a group.
  @discardableResult
  public func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undo)
  }

  /// Redoes the next undone entry. If operations wait or run, that is the entry that will be the
  /// next one once they have ended.
  ///
  /// - Returns: An operation whose response is the redone entry, `nil` if there was nothing to
  ///   redo. It fails with the error of the use case's `redo`, and as ``undo()`` does.
  /// - Complexity: O(1), and O(*n*) in the number of parts of a group.
  @discardableResult
  public func redo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.redo)
  }

  /// Undoes this entry, wherever it is, unless a later applied entry overlaps it.
  ///
  /// ```swift
  /// let undo = history.undo(deletion).catch(HistoryError.self) { error in
  ///   if case .blocked(let later) = error { selection.select(later) }
  /// }
  /// ```
  ///
  /// Entries overlap if their footprints do: see ``UndoableUseCase/footprint(of:_:)``. By default a
  /// footprint is everything, and then only the newest entry can be undone.
  ///
  /// The undone entry becomes the next one to redo. Redoing it makes it the newest applied entry;
  /// the order of the others doesn't change. A partly undone group blocks all older entries.
  ///
  /// - Parameter entry: The entry.
  /// - Returns: An operation whose response is the undone entry, `nil` if it was undone already. It
  ///   fails with the error of the use case's `undo`; with ``HistoryError/blocked(by:)`` if later
  ///   entries have to be undone before; with ``HistoryError/unknownEntry(_:)`` if the entry is not
  ///   there when its turn comes; with ``HistoryError/reentrant`` inside a recorded body, an undo,
  ///   a redo or a group.
  /// - Complexity: O(*n*) in the number of later entries that overlap it, and in the number of
  ///   parts of a group. For an entry whose footprint is everything, O(*n*) in the number of later
  ///   entries.
  @discardableResult
  public func undo(
    _ entry: HistoryEntry.ID
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undoEntry(entry))
  }

  private func execute<Answer: MoveAnswer>(
    _ move: HistoryMove
  ) -> UseCaseOperation<HistoryMove, Answer> {
    let here = HistoryFrame.innermost
    guard core.role(in: here) == nil else { return Self.refuse(move) }
    return HistoryFrame.leave(here) { Move(core: core).execute(move) }
  }

  /// Undoes or redoes until `entry` is the newest applied one. The move stops at an undo or a redo
  /// that fails.
  ///
  /// - Parameter entry: The entry, or `nil` to undo all.
  /// - Returns: An operation whose response is the entries undone or redone, in this order. It
  ///   fails with the error of an undo or a redo; with ``HistoryError/unknownEntry(_:)`` if there
  ///   is no such entry when its turn comes; with ``HistoryError/reentrant`` inside a recorded
  ///   body, an undo, a redo or a group.
  /// - Complexity: O(*n*) in the number of entries to undo or redo.
  @discardableResult
  public func move(to entry: HistoryEntry.ID?) -> UseCaseOperation<HistoryMove, [HistoryEntry]> {
    execute(.move(entry))
  }

  /// Runs what waits for no lane. A queue of its own: what becomes of the default one is no concern
  /// of a history.
  private static let aside = UseCaseQueue()

  /// An operation that a body on the lane awaits there would wait for itself.
  private static func refuse<Request, Response>(
    _ request: Request
  ) -> UseCaseOperation<Request, Response> {
    AnyUseCase(queue: aside) { _ in throw HistoryError.reentrant }.execute(request)
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
  /// is a *part* of the group. So is a group inside the group. If the body throws, the parts are
  /// undone, and nothing is recorded. A group ends when all parts that have begun in it have ended.
  ///
  /// - Parameters:
  ///   - title: The title of the group for the user interface.
  ///   - body: Executes the parts. It runs on no actor.
  /// - Returns: An operation whose response is what the body returns. It fails with whatever the
  ///   body throws; with ``HistoryGroupError`` if the parts could then not all be undone; with
  ///   ``HistoryError/reentrant`` inside a recorded body, an undo or a redo.
  /// - Complexity: O(*n*) in the number of parts.
  @discardableResult
  public func group<Value: Sendable>(
    _ title: String, _ body: @escaping @Sendable () async throws -> Value
  ) -> UseCaseOperation<String, Value> {
    let here = HistoryFrame.innermost
    switch core.role(in: here) {
    case .body, .part: return Self.refuse(title)
    case .group(let parent):
      let id = HistoryEntry.ID.next()
      guard ledger.change({ $0.groups.open(id, title, in: parent) }) else { break }
      return Group(core: core, nested: id, body: body).executeInside(title)
        .onCancel { [ledger] _ in ledger.change { $0.groups.abandon(id) }?.resume() }
    case nil: break
    }
    return HistoryFrame.leave(here) { Group(core: core, nested: nil, body: body).execute(title) }
  }

  /// Discards all entries.
  ///
  /// A running execution is not recorded when it ends, and a waiting undo or redo finds nothing. A
  /// clean history stays clean, and one with unsaved changes keeps them.
  ///
  /// If you call it inside a recorded body, an undo, a redo or a group, it takes effect when that
  /// has ended.
  ///
  /// - Complexity: O(*n*) in the number of entries, with no lock held.
  public func clear() {
    let frame = core.role(in: .innermost) == nil ? nil : HistoryFrame.current
    let history = ledger.history
    // A task that a body has left behind may find out only here that the body is over.
    ledger.discard(ledger.change { $0.clear(isInside: frame?.running(of: history) != nil) })
    ledger.journal?.start()
  }

  /// Removes an entry from the history, whether it is applied or undone.
  ///
  /// Its effect stays as it is, and can no longer be undone or redone. An entry that is being
  /// undone or redone leaves when that has ended.
  ///
  /// A clean history stays clean. If undo and redo can no longer restore the saved state, the
  /// history is not clean again until the next save.
  ///
  /// - Parameter entry: The entry. An unknown one is ignored.
  /// - Complexity: The same as ``undo(_:)``.
  public func forget(_ entry: HistoryEntry.ID) {
    ledger.discard(ledger.change { $0.forget(entry) })
    ledger.journal?.start()
  }

  /// Keeps the next execution from merging with the newest entry.
  public func breakMerging() {
    ledger.change { $0.window.close() }
  }

  /// Waits until nothing runs or waits on the lane, and the journal, if there is one, is up to
  /// date.
  ///
  /// It returns at once if that is so already. If the journal can't be written, this doesn't wait
  /// for it. The cancellation of the awaiting task changes nothing.
  ///
  /// Don't await it inside a recorded body, an undo, a redo or a group: it would never return.
  public func idle() async {
    await core.lane.idle()
    await ledger.journal?.flush()
  }
}

// MARK: - Reading

extension UseCaseHistory {
  /// The present state of the history.
  public var state: HistoryState { ledger.state }

  /// All entries: the applied ones, the oldest first, then the undone ones, the next to redo first.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public var entries: [HistoryEntry] { ledger.entries }

  /// Returns the entry that an operation has become. The entry is there when the handlers of the
  /// operation run.
  ///
  /// ```swift
  /// let deletion = delete.execute(title)
  /// deletion.then { _ in
  ///   guard let entry = history.entry(of: deletion.id) else { return }
  ///   snackbar.show("Deleted \(title)", undo: entry.id)
  /// }
  /// ```
  ///
  /// - Parameter operation: The operation of an execution or a group of this history.
  /// - Returns: The entry, `nil` before the operation is recorded and after the entry has left. For
  ///   an execution that was merged, the entry into which it was merged.
  /// - Complexity: The same as ``undo(_:)``.
  public func entry(of operation: UseCaseOperationID) -> HistoryEntry? {
    ledger.entry(of: HistoryEntry.ID(operation))
  }

  /// Returns the request and the response of an entry, or of a part of a group. Use them to repeat
  /// the execution, or for an audit or an export.
  ///
  /// - Parameters:
  ///   - entry: The entry, or the part.
  ///   - type: The use case that was recorded.
  /// - Returns: The request and the last response. `nil` if the entry is a group, belongs to
  ///   another use case, or doesn't exist.
  /// - Complexity: The same as ``undo(_:)``, and O(*n*) in the number of entries for a part.
  public func execution<Base: UndoableUseCase>(
    _ entry: HistoryEntry.ID, by type: Base.Type
  ) -> (request: Base.Request, response: Base.Response)? {
    (ledger.step(of: entry) as? RecordedStep<Base>).map { ($0.request, $0.response) }
  }

  /// Returns the entries that would block an ``undo(_:)`` of `entry` at present, for a list of
  /// steps.
  ///
  /// - Parameter entry: An applied entry.
  /// - Returns: The later entries that overlap it, the oldest first. Empty if the entry is undone,
  ///   or doesn't exist.
  /// - Complexity: The same as ``undo(_:)``.
  public func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    ledger.blockers(of: entry)
  }

  /// Returns the present state, and then one for each change. A slow reader skips to the newest.
  ///
  /// - Returns: A stream that ends when the history is deallocated.
  public func states() -> AsyncStream<HistoryState> {
    ledger.states()
  }

  /// How many applied entries are kept, `nil` for all.
  ///
  /// The oldest ones are discarded when an execution is recorded, and when you lower the limit. A
  /// limit below 0 is a programmer error and traps.
  ///
  /// - Complexity: O(1), and O(*n*) in the number of entries that are discarded.
  public var limit: Int? {
    get { ledger.read { $0.limit } }
    set {
      Self.check(newValue)
      ledger.discard(ledger.change { $0.setLimit(newValue) })
      ledger.journal?.start()
    }
  }

  /// Returns the place where the history is.
  ///
  /// Take it when saving begins, and pass it to ``markSaved(_:)`` when saving has succeeded.
  /// Changes made meanwhile are unsaved.
  ///
  /// Await ``idle()`` before. While a body, an undo, a redo, a move or a group runs, the state of
  /// the document is uncertain. If you mark a point that was taken then, the history is not clean
  /// until the next save.
  ///
  /// - Returns: The place.
  public func savePoint() -> HistorySavePoint {
    HistorySavePoint(history: ledger.history, place: ledger.change { $0.savePoint() })
  }

  /// Marks the place where `point` was taken as saved. The history is clean whenever it is there.
  ///
  /// - Parameter point: From ``savePoint()`` of this history. One of another history is a programmer
  ///   error and traps.
  public func markSaved(_ point: HistorySavePoint) {
    guard point.history == ledger.history else {
      fatalError(
        "A save point belongs to the history that it was taken from: mark it as saved there.")
    }
    ledger.change { $0.markSaved(point.place) }
    ledger.journal?.start()
  }
}

extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// It doesn't change as long as the entry exists. Derive an idempotency key from it, so that a
  /// server can tell a repeated attempt from a new request. Add two things to the key: the action
  /// (the execution, or which undo or redo of it), and a name of the device, since another device
  /// has the same identities.
  ///
  /// A part of a group has its own identity. An execution has its own identity until it is merged
  /// into another entry.
  public static var current: Self? {
    guard let frame = HistoryFrame.current else { return nil }
    return switch frame.role {
    case .body, .part: frame.entrance.entry
    case .group: nil
    }
  }
}

extension UndoableUseCase {
  /// Returns a use case that does the same, and records its executions in `history`.
  ///
  /// Pass it to the code that executes the use case. Its copies are the same use case for
  /// ``merge(_:_:)``.
  ///
  /// The recorded use case holds a strong reference to the history, and an entry holds its use
  /// case. To avoid a retain cycle, don't store a recorded use case in one that is recorded in the
  /// same history: create it when `main` needs it, or ``UseCaseHistory/clear()`` the history at the
  /// end.
  ///
  /// - Parameter history: The history that records the executions.
  /// - Returns: The recorded use case.
  @inlinable
  public func recorded(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    RecordedUseCase(self, RecordedIdentity(), in: history.core)
  }
}
