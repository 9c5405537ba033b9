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
/// The base use case doesn't take slots of its own queue, and the policy of that queue doesn't apply.
/// The interceptors of that queue do: they wrap `main`, `undo` and `redo`, so a retry goes on working.
/// An interceptor sees an undo with the request of the entry and a response of `Void`. The entry
/// keeps the request of the execution, and the response that `main` returned, also if an interceptor
/// maps it, or throws after that.
public struct RecordedUseCase<Base: UndoableUseCase>: UseCase {
  let base: Base
  let history: UseCaseHistory
  /// Nil if it is executed once, and has no copies to merge with.
  let identity: RecordedIdentity?

  /// The lane of the history.
  public var queue: UseCaseQueue { history.lane }

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
  @inline(__always)
  public func main(_ request: Base.Request) async throws -> Base.Response {
    guard let frame = history.ledger.frame(forBodyOf: Self.self, on: history.lane) else {
      return try await executed(request)
    }
    await frame.line?.idle()
    let journal = frame.isRecorded ? history.ledger.journal : nil
    guard journal?.hasTransactions != true, !base.queue(for: request).hasInterceptors else {
      let attempts = Attempts()
      let body = base.attempt(attempts, identity, request)
      return try await answer(request, in: frame, attempts, body)
    }
    var step: RecordedStep<Base>?
    do {
      if let journal { try await begin(request, in: frame, writingTo: journal) }
      // A closure that returned the response would be called by way of its type.
      try await HistoryFrame.local.withValue(frame) {
        let response = try await base.main(request)
        step = base.step(identity, request, response)
      }
    } catch {
      if let journal {
        await bodyEnded(frame, with: nil, writingTo: journal)
      } else {
        history.ledger.bodyEnded(frame, with: nil)
      }
      throw error
    }
    guard let step else { preconditionFailure("A recorded body that returns has a response.") }
    if let journal {
      await bodyEnded(frame, with: step, writingTo: journal)
    } else {
      history.ledger.bodyEnded(frame, with: step)
    }
    return step.response
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
    guard let frame = history.ledger.frame(forBodyOf: Self.self, on: history.lane) else {
      return try await self(request, report: report)
    }
    await frame.line?.idle()
    let attempts = Attempts()
    return try await answer(request, in: frame, attempts) { [base, identity] changed in
      try await attempts.run {
        RecordedStep(base, identity, request, try await base.main(changed, report: report))
      }.response
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
  /// The recorded use case holds a strong reference to the history, and an entry holds its use
  /// case. To avoid a retain cycle, don't store a recorded use case in another use case that is
  /// recorded in the same history. Create the inner use case in `main`, or call
  /// ``UseCaseHistory/clear()`` when you no longer need the history.
  ///
  /// - Parameter history: The history that records the executions.
  /// - Returns: The recorded use case.
  public func recorded(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    RecordedUseCase(base: self, history: history, identity: RecordedIdentity())
  }

  /// Returns a recorded use case that is executed once, and has no copies to merge with.
  @usableFromInline
  func recordedOnce(in history: UseCaseHistory) -> RecordedUseCase<Self> {
    RecordedUseCase(base: self, history: history, identity: nil)
  }
}

extension UndoableUseCase {
  // Not inlined: their variables would take room in the frame of each body.

  @inline(never)
  fileprivate func step(
    _ identity: RecordedIdentity?, _ request: Request, _ response: Response
  ) -> RecordedStep<Self> {
    RecordedStep(self, identity, request, response)
  }

  @inline(never)
  fileprivate func attempt(
    _ attempts: Attempts, _ identity: RecordedIdentity?, _ request: Request
  ) -> @Sendable (Request) async throws -> Response {
    { changed in
      try await attempts.run { step(identity, request, try await main(changed)) }.response
    }
  }
}

extension RecordedUseCase {
  @inline(never)
  private func executed(_ request: Base.Request) async throws -> Base.Response {
    try await self(request)
  }

  // Not inlined: the variables of these two would take room in the frame of each body.

  /// Returns when the intent of the execution is written.
  @inline(never)
  private nonisolated(nonsending) func begin(
    _ request: Base.Request, in frame: HistoryFrame, writingTo journal: JournalWriter
  ) async throws {
    try await journal.writeAhead(.began(frame.entry, in: frame.group, pair(request, in: journal)))
  }

  /// The body has ended. Returns when the journal knows how, before any handler.
  @inline(never)
  private nonisolated(nonsending) func bodyEnded(
    _ frame: HistoryFrame, with step: (any HistoryStep)?, writingTo journal: JournalWriter
  ) async {
    history.ledger.bodyEnded(frame, with: step.map { journal.answered($0, by: frame.entry) })
    await history.ledger.untilWritten()
  }

  /// Runs the body with all that may be around it, and records the step that its attempts make.
  @inline(never)
  private func answer(
    _ request: Base.Request, in frame: HistoryFrame, _ attempts: Attempts,
    _ body: @escaping @Sendable (Base.Request) async throws -> Base.Response
  ) async throws -> Base.Response {
    let ledger = history.ledger
    var (response, failure): (Base.Response?, (any Error)?) = (nil, nil)
    var written: WrittenStep?
    do {
      if let journal = ledger.journal, frame.isRecorded {
        written = try await begin(request, in: frame, attempts, writingTo: journal)
      }
      let queue = base.queue(for: request)
      // A closure that returned the response would be called by way of its type.
      try await HistoryFrame.local.withValue(frame) {
        response = try await queue.run(
          request, of: base, timeout: UseCaseTimeout.never, body: body)
      }
    } catch {
      failure = error
    }
    let step = await attempts.lastStep()
    let (stored, fate) = written.map { $0(step) } ?? (step, nil)
    ledger.bodyEnded(frame, with: stored, as: fate)
    if frame.isRecorded, ledger.journal != nil { await ledger.untilWritten() }
    if let failure { throw failure }
    guard let response else { preconditionFailure("A body that returns has a response.") }
    return response
  }

  /// Returns a step as the journal keeps it, and its fate if that is known.
  private typealias WrittenStep =
    @Sendable ((any HistoryStep)?) -> ((any HistoryStep)?, fate: HistoryLedger.Fate?)

  /// Lets the attempts run in a transaction of the journal. If it has none, writes ahead: the intent
  /// before the body, and the end before any handler.
  private func begin(
    _ request: Base.Request, in frame: HistoryFrame, _ attempts: Attempts,
    writingTo journal: JournalWriter
  ) async throws -> WrittenStep {
    let (id, group, ledger) = (frame.entry, frame.group, history.ledger)
    guard let database = journal.database else {
      try await begin(request, in: frame, writingTo: journal)
      return { step in (step.map { journal.answered($0, by: id) }, nil) }
    }
    let pair = try pair(request, in: journal)
    let fate = Lock<HistoryLedger.Fate?>(nil)
    let transaction = JournalTransaction(id, journal, in: database) { step in
      journal.put(.began(id, in: group, pair))
      let stored = journal.answered(step, by: id)
      let own = ledger.fate(of: stored, in: frame)
      fate.withLock { $0 = own }
      return stored
    }
    attempts.runInside { try await transaction.run($0) }
    return { _ in (transaction.stored, fate.withLock { $0 }) }
  }

  /// Returns the part of the pair that is written before the execution begins.
  private func pair(_ request: Any, in journal: JournalWriter) throws -> HistoryPair {
    guard let kind = journal.kind(of: Base.self) else {
      throw HistoryJournalError(.notJournaled("\(Base.self)"))
    }
    do {
      return try kind.pair(request, nil, journal.journal.coder)
    } catch {
      throw HistoryJournalError(.cannotWrite, cause: error)
    }
  }
}

extension RecordedUseCase: DescribedUseCase {
  package func describe(_ request: Any) -> (any Sendable)? {
    (request as? Base.Request).map {
      ExecutionWords(title: base.title(for: $0), footprint: base.footprint(of: $0))
    }
  }
}
