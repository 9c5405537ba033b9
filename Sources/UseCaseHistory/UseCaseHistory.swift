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
/// Everything that is asked of a history runs on its lane, one at a time, in the order asked for:
/// an undo that is asked for while executions wait is for the last of them. A step that fails
/// loses nothing: a failed action does not cost the undone entries, and a failed undo can be tried
/// again.
public final class UseCaseHistory: Sendable {
  let core: HistoryCore
  private var ledger: HistoryLedger { core.ledger }

  /// Creates an empty history, which is clean.
  ///
  /// - Parameters:
  ///   - limit: How many applied entries are kept, nil for all. Below 0 it is a programmer error
  ///     and traps.
  ///   - mergeWindow: How much time may lie between the recordings of two executions that merge.
  ///   - clock: Measures the merge window, and the timeouts of what is recorded.
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
      fatalError("A history keeps 0 entries or more: give a limit from 0 up, or nil.")
    }
  }
}

// MARK: - Asking

extension UseCaseHistory {
  /// Executes the request on the lane and records it as soon as there is a response.
  ///
  /// - Parameters:
  ///   - useCase: The use case to execute.
  ///   - request: The input of the use case.
  /// - Returns: The operation. It fails with whatever `useCase` throws; then nothing is recorded.
  /// - Complexity: O(1), and O(*n*) in the number of entries that it drops.
  @discardableResult
  public func execute<Base: UndoableUseCase>(
    _ useCase: Base, _ request: Base.Request
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    useCase.recorded(in: self).execute(request)
  }

  /// Undoes the entry that will be the newest applied one when everything asked for before has
  /// run.
  ///
  /// - Returns: The operation, and in it the entry, nil if there was nothing to undo. It fails
  ///   with what the undo of the use case throws, after which it can be tried again; with
  ///   ``HistoryError/outOfTurn`` if the entry is not the newest applied one after all; with
  ///   ``HistoryError/reentrant`` inside of what the history runs.
  /// - Complexity: O(1), and O(*n*) in the number of parts of a group.
  @discardableResult
  public func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undo)
  }

  /// Redoes the entry that will be the next undone one when everything asked for before has run.
  ///
  /// - Returns: The operation, and in it the entry, nil if there was nothing to redo. It fails
  ///   with what the redo of the use case throws, and as ``undo()`` does.
  /// - Complexity: O(1), and O(*n*) in the number of parts of a group.
  @discardableResult
  public func redo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.redo)
  }

  /// Undoes this entry, wherever it is, if no later applied one touches what it has touched.
  ///
  /// ```swift
  /// let undo = history.undo(deletion).catch(HistoryError.self) { error in
  ///   if case .blocked(let later) = error { selection.select(later) }
  /// }
  /// ```
  ///
  /// An entry touches its ``UndoableUseCase/footprint(of:_:)``. By default that is everything,
  /// and then only the newest entry can be undone. The entry is the next one to redo, which puts it
  /// behind the newest applied one; the others keep their order. A group that is half undone blocks
  /// all below it.
  ///
  /// - Parameter entry: The entry.
  /// - Returns: The operation, and in it the entry, nil if it is undone already. It fails
  ///   with what the undo of the use case throws; with ``HistoryError/blocked(by:)`` if later entries
  ///   have to be undone before; with ``HistoryError/unknownEntry(_:)`` if it is not there when its
  ///   turn comes; with ``HistoryError/reentrant`` inside of what the history runs.
  /// - Complexity: O(*n*) in the number of later entries that touch the same, and in the number of
  ///   parts of a group. An entry that touches everything is searched for from the newest down.
  @discardableResult
  public func undo(
    _ entry: HistoryEntry.ID
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    execute(.undoEntry(entry))
  }

  private func execute<Answer: MoveAnswer>(
    _ move: HistoryMove
  ) -> UseCaseOperation<HistoryMove, Answer> {
    guard core.role == nil else { return Self.refuse(move) }
    return HistoryFrame.leave { Move(core: core).execute(move) }
  }

  /// Undoes or redoes until `entry` is the newest applied one. A step that fails stops it there.
  ///
  /// - Parameter entry: The entry, nil for before the first.
  /// - Returns: The operation, and in it the entries undone or redone, in this order. It fails
  ///   with what a step throws, with ``HistoryError/unknownEntry(_:)`` if there is no such entry
  ///   when its turn comes, and with ``HistoryError/reentrant`` inside of what the history runs.
  /// - Complexity: O(*n*) in the number of entries between here and there.
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

  /// Runs `body` in one occupation of the lane, and records what it executes in the call form
  /// through this history as one entry.
  ///
  /// ```swift
  /// history.group("Replace all") {
  ///   for place in places { _ = try await replace(place) }
  /// }
  /// ```
  ///
  /// If the body throws, its parts are undone and nothing is recorded. A group in the body of
  /// another is one part of it. A group ends when all that has begun in it has.
  ///
  /// - Parameters:
  ///   - title: The name of the group for a user.
  ///   - body: Executes the parts. It runs on no actor.
  /// - Returns: The operation, and in it what the body returns. It fails with whatever the body
  ///   throws; with ``HistoryGroupError`` if undoing the parts then failed too; with
  ///   ``HistoryError/reentrant`` inside of a recorded body, an undo or a redo.
  /// - Complexity: O(*n*) in the number of parts.
  @discardableResult
  public func group<Value: Sendable>(
    _ title: String, _ body: @escaping @Sendable () async throws -> Value
  ) -> UseCaseOperation<String, Value> {
    switch core.role {
    case .body, .part: return Self.refuse(title)
    case .group(let parent):
      let id = HistoryEntry.ID.next()
      guard ledger.change({ $0.groups.open(id, title, in: parent) }) else { break }
      return Group(core: core, nested: id, body: body).executeInside(title)
        .onCancel { [ledger] _ in ledger.change { $0.groups.abandon(id) }?.resume() }
    case nil: break
    }
    return HistoryFrame.leave { Group(core: core, nested: nil, body: body).execute(title) }
  }

  /// Drops all entries. A running execution is not recorded when it ends, and a waiting undo or redo
  /// finds nothing. A clean history stays clean, and a dirty one dirty.
  ///
  /// Inside of what the history runs it takes effect when that is over.
  ///
  /// - Complexity: O(*n*) in the number of entries, outside of any lock.
  public func clear() {
    let frame = core.role == nil ? nil : HistoryFrame.current
    let history = ledger.history
    // A task that a body has left behind may find out only here that the body is over.
    ledger.discard(ledger.change { $0.clear(isInside: frame?.running(of: history) != nil) })
    ledger.journal?.start()
  }

  /// Takes an entry out of the history, applied or undone: its effect stays as it is, and it can no
  /// longer be undone or redone. One that is being undone or redone leaves when that is over.
  ///
  /// A clean history stays clean. A saved place that the document can no longer reach is never clean.
  ///
  /// - Parameter entry: The entry. One that is not there is ignored.
  /// - Complexity: As that of ``undo(_:)``.
  public func forget(_ entry: HistoryEntry.ID) {
    ledger.discard(ledger.change { $0.forget(entry) })
    ledger.journal?.start()
  }

  /// Keeps the next execution from merging with what has been recorded.
  public func breakMerging() {
    ledger.change { $0.window.close() }
  }

  /// Returns when nothing runs and nothing waits on the lane, and its journal, if it has one, has been
  /// written as far as it can be; at once if that is so now. The
  /// cancellation of the awaiting task changes nothing.
  ///
  /// Inside of what the history runs it would wait for ever.
  public func idle() async {
    await core.lane.idle()
    await ledger.journal?.flush()
  }
}

// MARK: - Reading

extension UseCaseHistory {
  /// The present state of the history.
  public var state: HistoryState { ledger.state }

  /// All entries: the applied ones, then the undone ones, in the order of recording.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public var entries: [HistoryEntry] { ledger.entries }

  /// Returns what an execution has become, from the time it is recorded: its own handlers find it.
  ///
  /// ```swift
  /// let deletion = delete.execute(title)
  /// deletion.then { _ in
  ///   guard let entry = history.entry(of: deletion.id) else { return }
  ///   snackbar.show("Deleted \(title)", undo: entry.id)
  /// }
  /// ```
  ///
  /// - Parameter operation: The operation of an execution or a group on the lane of this history.
  /// - Returns: The entry, nil before and after its time in the history. For an execution that was
  ///   merged, the entry that it went into.
  /// - Complexity: As that of ``undo(_:)``.
  public func entry(of operation: UseCaseOperationID) -> HistoryEntry? {
    ledger.entry(of: HistoryEntry.ID(operation))
  }

  /// Returns what an entry, or a part of a group, has recorded: to repeat it, for an audit or an
  /// export.
  ///
  /// - Parameters:
  ///   - entry: The entry, or the part.
  ///   - type: The use case that was recorded.
  /// - Returns: Its request and its last response. Nil for a group, for an entry of another use case,
  ///   and if there is none.
  /// - Complexity: As that of ``undo(_:)``, and O(*n*) in the number of entries for a part.
  public func execution<Base: UndoableUseCase>(
    _ entry: HistoryEntry.ID, by type: Base.Type
  ) -> (request: Base.Request, response: Base.Response)? {
    (ledger.step(of: entry) as? RecordedStep<Base>).map { ($0.request, $0.response) }
  }

  /// Returns the entries that would block an ``undo(_:)`` of this one at present, for a list of steps.
  ///
  /// - Parameter entry: An applied entry.
  /// - Returns: The later entries that touch what it touches, the oldest first. Empty for one that is
  ///   undone, or not there.
  /// - Complexity: As that of ``undo(_:)``.
  public func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    ledger.blockers(of: entry)
  }

  /// Returns the present state, and then one for each change. A slow reader sees the newest.
  ///
  /// - Returns: The states. They end when the history goes away.
  public func states() -> AsyncStream<HistoryState> {
    ledger.states()
  }

  /// How many applied entries are kept, nil for all. The oldest go first, when something is
  /// recorded and when the limit is lowered. Not below 0.
  ///
  /// - Complexity: O(1), and O(*n*) in the number of entries that go.
  public var limit: Int? {
    get { ledger.read { $0.limit } }
    set {
      Self.check(newValue)
      ledger.discard(ledger.change { $0.setLimit(newValue) })
      ledger.journal?.start()
    }
  }

  /// Returns the place where the history is. Take it when saving begins, and give it to
  /// ``markSaved(_:)`` when saving has succeeded: what is done meanwhile is not saved.
  ///
  /// While a body, an undo, a redo, a move or a group runs nobody knows what a file would hold: a
  /// point taken then is no place, and to mark it makes no history clean. Await ``idle()`` before.
  ///
  /// - Returns: The place.
  public func savePoint() -> HistorySavePoint {
    HistorySavePoint(history: ledger.history, place: ledger.change { $0.savePoint() })
  }

  /// Makes the place where `point` was taken the clean one.
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
  /// In a recorded body, its undo and its redo: the entry that it is, or will be. Nil elsewhere.
  ///
  /// It stays the same as long as there is the entry: a key by which a server knows a second attempt
  /// from a second request. A part of a group has its own. An execution that is merged into
  /// another entry had its own until then.
  public static var current: Self? {
    guard let frame = HistoryFrame.current else { return nil }
    return switch frame.role {
    case .body, .part: frame.entrance.entry
    case .group: nil
    }
  }
}

extension UndoableUseCase {
  /// Returns a use case that does the same and is recorded in `history`: hand it to whoever
  /// executes. Its copies are the same use case for ``merge(_:_:)``.
  ///
  /// It keeps the history, and an entry keeps its use case. To avoid a cycle, don't store a use case
  /// in another one that is recorded in the same history: make it when `main` needs it, or
  /// ``UseCaseHistory/clear()`` the history when it is no longer needed.
  ///
  /// - Parameter history: Where its executions become entries.
  /// - Returns: The recorded use case.
  public func recorded(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    RecordedUseCase(base: self, core: history.core)
  }
}
