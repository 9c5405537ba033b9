public import UseCase
import UseCaseInternals

/// A use case whose executions are recorded in a history. Make it with
/// ``UndoableUseCase/recorded(in:)``.
///
/// ```swift
/// let rename = Rename(document: document).recorded(in: history)
/// let button = RenameButton(rename: AnyUseCase(rename))  // doesn't know the history
/// ```
///
/// The operations of a recorded use case run on the lane of the history, the serial queue on which
/// undos and redos run, too. Inside a ``UseCaseHistory/group(_:_:)``, a call such as
/// `try await useCase(request)` becomes a part of the group. Inside another recorded body, such a
/// call adds no entry: the `undo` of the outer use case has to undo the effect of the call, too.
///
/// The base use case doesn't take slots of its own queue, and the policy of that queue doesn't apply:
/// see ``UndoableUseCase/recorded(in:)``. The interceptors of that queue do apply: they wrap `main`,
/// `undo` and `redo`, so a retry goes on working. An interceptor sees an undo with the request of the
/// entry and a response of `Void`. The entry keeps the request of the execution, and the response that
/// `main` returned, also if an interceptor maps it, or throws after that.
public struct RecordedUseCase<Base: UndoableUseCase>: UseCase {
  let base: Base
  let history: UseCaseHistory
  /// Nil if it is executed once, and has no copies to merge with.
  let identity: RecordedIdentity?
  /// The line of the `HistoryGroup` that executes it.
  var line: GroupLine?

  /// The lane of the history.
  public var queue: UseCaseQueue { history.queue }

  /// The lane of the history. In the body of a group, the line of its parts.
  @_documentation(visibility: internal)
  public func queue(for request: Base.Request) -> UseCaseQueue {
    (line ?? history.groupHere)?.queue ?? history.queue
  }

  /// The name of the base use case.
  @_documentation(visibility: internal)
  public var useCaseName: String { base.useCaseName }

  /// The timeout of the base use case.
  ///
  /// The timeout applies to each execution, undo and redo. A response that arrives after the timeout
  /// is still recorded, and an undo or a redo that returns late still counts.
  public var timeout: Duration { base.timeout }

  /// Answers the request as the base use case does, and records the response.
  ///
  /// A wrapper of yours can call `main`, which is then the same as the call form,
  /// `try await useCase(request)`.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The error of the base use case. In a history with a journal, also a
  ///   ``HistoryJournalError``: the journal can't be written, or the use case wasn't passed to
  ///   `open`. If `main` throws, nothing is recorded.
  /// - Complexity: That of the base use case, and O(*n*) in the number of entries that leave.
  public func main(_ request: Base.Request) async throws -> Base.Response {
    guard let place = try await place else { return try await self(request) }
    return try await run(request, at: place) { [base] in try await base.main($0) }
  }
}

extension RecordedUseCase: ReportingUseCase where Base: ReportingUseCase {
  /// Answers the request as the base use case does, reports its updates, and records the response.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - report: Receives the updates of the base use case.
  /// - Returns: The response.
  /// - Throws: As ``main(_:)`` does.
  /// - Complexity: That of ``main(_:)``.
  @_documentation(visibility: internal)
  public func main(
    _ request: Base.Request, report: @escaping @Sendable (Base.Update) -> Void
  ) async throws -> Base.Response {
    guard let place = try await place else { return try await self(request, report: report) }
    return try await run(request, at: place) { [base] in
      try await base.main($0, report: report)
    }
  }
}

extension UndoableUseCase {
  /// Returns a use case that does the same, and records its executions in `history`.
  ///
  /// If this is a `ReportingUseCase`, so is the recorded use case, and it reports the same updates.
  /// An `any UndoableUseCase` can't be recorded this way: pass it to
  /// ``UseCaseHistory/execute(_:_:)``, or to a generic function.
  ///
  /// Pass the recorded use case to the code that executes it. Executions of the recorded use case
  /// and of its copies can merge: see ``merge(_:_:)``.
  ///
  /// Recorded executions run one after the other, and none is refused. In a debug build, it is a
  /// programmer error and traps if the queue of the use case has a policy that drops, replaces or
  /// cancels operations, bounds the line, has a pause or a rate, or goes by priority. Execute the
  /// recorded use case in the body of one with that policy instead.
  ///
  /// The recorded use case holds a strong reference to the history, and an entry holds its use
  /// case. To avoid a retain cycle, don't store a recorded use case in another use case that is
  /// recorded in the same history. Create the inner use case in `main`, or call
  /// ``UseCaseHistory/clear()`` when you no longer need the history.
  ///
  /// - Parameter history: The history that records the executions.
  /// - Returns: The recorded use case.
  public func recorded(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    assertIsKept(policyOf: self)
    return RecordedUseCase(base: self, history: history, identity: RecordedIdentity())
  }

  /// Returns a recorded use case that is executed once, and has no copies to merge with.
  @usableFromInline
  func recordedOnce(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    recordedOnce(in: history, on: nil)
  }

  /// Returns a recorded use case that is executed once, as a part of a group that is held open.
  func recordedOnce(in history: UseCaseHistory, on line: GroupLine?) -> RecordedUseCase<Self> {
    assertIsKept(policyOf: self)
    return RecordedUseCase(base: self, history: history, identity: nil, line: line)
  }
}

/// A debug build makes sure that the lane keeps the policy of the use case.
private func assertIsKept(policyOf useCase: some UndoableUseCase) {
  assert(
    useCase.queue.policy.isPlain,
    """
    \(type(of: useCase)) has a queue with the policy \(useCase.queue.policy), which a history does not \
    keep: recorded executions run one after the other, and none is refused. Look at \
    `history.state.isBusy`, or call the recorded use case in the body of one with that policy.
    """)
}

// MARK: - How a body begins and ends

extension RecordedUseCase {
  private var lane: HistoryLane { history.lane }

  /// The role of the body that begins.
  private enum Place {
    /// An entry.
    case entry(HistoryEntry.ID)
    /// A part of this group.
    case part(HistoryEntry.ID, in: HistoryEntry.ID, title: String)
    /// It runs inside of another body, an undo or a redo, which answers for it.
    case inside(HistoryEntry.ID)
  }

  /// Nil if the running code has no place on the lane: a wrapper has called `main`, or a part comes too
  /// late. The call form then makes an operation, which has one.
  private var place: Place? {
    get async throws {
      // Asked first: the task of the operation may have the frame of a body that goes on.
      if line == nil, let operation = history.queue.operationHere(executing: Self.self),
        lane.read({ $0.mayBegin(lane.id(of: operation)) })
      {
        return .entry(lane.id(of: operation))
      }
      // A call that has begun in a body keeps the slot of that, though the body may have returned.
      if history.queue.hasGuestHere, let frame = HistoryFrame.innermost(in: lane.history) {
        return .inside(frame.entry)
      }
      if let frame = HistoryFrame.current(in: lane.history) {
        switch frame.role {
        case .body, .answered: return .inside(frame.entry)
        case .group: break
        }
      }
      if let part = try await part { return part }
      if line != nil { throw HistoryError.outOfTurn }
      return nil
    }
  }

  private var part: Place? {
    get async throws {
      var here: UseCaseOperationID?
      func isHere(_ line: GroupLine) -> Bool {
        here =
          line.queue.operationHere(executing: Self.self)
          ?? line.calls.operationHere(executing: Self.self)
        return here != nil
      }
      guard
        let line = line.flatMap({ isHere($0) ? $0 : nil })
          ?? HistoryFrame.line(in: lane.history, where: isHere),
        let here
      else { return nil }
      // A task that a part has left behind does not wait for the slot of that part.
      if line.calls.isHeldHere, !line.queue.isHeldHere {
        await line.parts.awaitEarlier(here)
        try Task.checkCancellation()
      }
      guard let (group, title) = try line.parts.beginPart(here) else { return nil }
      return .part(lane.id(of: here), in: group, title: title)
    }
  }

  private func run(
    _ request: Base.Request, at place: Place,
    _ body: @escaping @Sendable (Base.Request) async throws -> Base.Response
  ) async throws -> Base.Response {
    let queue = base.queue(for: request)
    switch place {
    case .inside(let entry):
      let frame = HistoryFrame(.answered, of: entry, in: lane.history)
      defer { frame.end() }
      return try await frame.run {
        queue.hasInterceptors
          ? try await queue.run(
            request, of: base.useCaseName, timeout: UseCaseTimeout.never, body: body)
          : try await body(request)
      }
    case .entry(let id):
      let draft: StoredStep?
      do {
        draft = try lane.journal?.draft(of: Base.self, request, title: lane.title(of: id))
      } catch {
        lane.change { $0.failEarly(id) }
        throw error
      }
      guard lane.change({ $0.begin(id, draft) }) else {
        preconditionFailure("The body of \(id) begins twice.")
      }
      let (step, result) = await run(request, as: id, draft, body) { [lane] step in
        let fate = lane.fate(of: step)
        return { $0.record(step, fate) }
      }
      if step == nil {
        await lane.fail(id)
      } else if let journal = lane.journal, journal.database != nil {
        // The transaction has recorded it.
        await journal.settle(lane)
      } else if let step {
        await lane.record(step)
      }
      return try result.get()
    case .part(let id, let group, let title):
      let draft = try lane.journal?.draft(of: Base.self, request, title: title)
      lane.change { $0.beginPart(id, in: group, title: title, draft) }
      let (step, result) = await run(request, as: id, draft, body) { step in
        let footprint = step.footprint
        return { $0.endPart(id, (step, footprint)) }
      }
      if step != nil, let journal = lane.journal, journal.database != nil {
        await journal.settle(lane)
      } else {
        await lane.endPart(id, step)
      }
      return try result.get()
    }
  }

  /// Runs the body with all that may be around it. Returns the step that it has made, if it has an
  /// effect. `end` makes the event of that step, for a transaction.
  private func run(
    _ request: Base.Request, as id: HistoryEntry.ID, _ draft: StoredStep?,
    _ body: @escaping @Sendable (Base.Request) async throws -> Base.Response,
    end: @escaping @Sendable (any HistoryStep) -> JournalWriter.Event
  ) async -> ((any HistoryStep)?, Result<Base.Response, any Error>) {
    let frame = HistoryFrame(.body, of: id, in: lane.history)
    defer { frame.end() }
    let (queue, database) = (base.queue(for: request), lane.journal?.database)
    do {
      if database == nil { try await lane.journal?.intent(lane) }
      guard database != nil || queue.hasInterceptors else {
        let response = try await frame.run { try await body(request) }
        let step = RecordedStep(base, identity, request, response)
        return (draft?.answered(step) ?? step, .success(response))
      }
    } catch {
      return (nil, .failure(error))
    }
    let attempts = Attempts()
    if let database, let draft, let journal = lane.journal {
      let committed = JournalWriter.Committed(nil)
      attempts.runInside { [lane] body in
        try await journal.transact(id, lane, in: database, once: committed, body) {
          end(draft.answered($0))
        }
      }
    }
    let result: Result<Base.Response, any Error>
    do {
      result = .success(
        try await frame.run {
          try await queue.run(request, of: base.useCaseName, timeout: UseCaseTimeout.never) {
            changed in
            try await attempts.run {
              RecordedStep(base, identity, request, try await body(changed))
            }.response
          }
        })
    } catch {
      result = .failure(error)
    }
    let step = await attempts.lastStep()
    return (step.map { draft?.answered($0) ?? $0 }, result)
  }
}

extension RecordedUseCase: DescribedUseCase {
  package func describe(_ request: Any) -> (any AnyObject & Sendable)? {
    (request as? Base.Request).map { lane.wish(base, $0) }
  }

  package func isHeldInside(for request: Any) -> Bool { history.queue.isHeldHere }
}
