import UseCase
import UseCaseInternals

/// The body of a group, which runs on the lane, or in the body of another group.
struct Group<Value: Sendable, Answer: Sendable>: UseCase, DescribedUseCase {
  let ledger: HistoryLedger
  let lane: UseCaseQueue
  /// The number of a group in another. One on the lane is named by its operation.
  var nested: HistoryEntry.ID?
  /// The parts of the other group that are executed before this one.
  var line: UseCaseQueue?
  /// The parts that are there already, of a group that the end of a process has interrupted.
  var interrupted: HistoryLedger.Machine.Groups.Opened?
  let body: @isolated(any) @Sendable () async throws -> Value
  /// Returns the response. `entry` makes the entry, nil if the group has left none.
  let answer: @Sendable (Value, _ entry: () -> HistoryEntry?) -> Answer

  var queue: UseCaseQueue { lane }

  func describe(_ request: Any) -> (any Sendable)? {
    (request as? String).map { ExecutionWords(title: $0) }
  }

  func main(_ title: String) async throws -> Answer {
    await self.line?.idle()
    let frame = ledger.frame { .group(GroupLine(of: nested ?? $0, in: ledger)) }
    guard case .group(let line) = frame.role else { preconditionFailure("A group has a line.") }
    guard begin(title, frame) else {
      frame.end()
      throw CancellationError()
    }
    let (result, parts) = await HistoryFrame.local.withValue(frame) {
      let result: Result<Value, any Error>
      do {
        result = .success(try await body())
      } catch {
        result = .failure(error)
        line.queueInUse?.cancelAll()
      }
      return (result, await closed(line.group))
    }
    frame.end()
    switch result {
    case .success(let value):
      end(parts, in: frame)
      await ledger.untilWritten()
      return answer(value) { entry(of: parts) }
    case .failure(let error):
      let (residue, failure) = await rollBack(parts, in: frame)
      end(parts, in: frame, rolledBack: residue)
      await ledger.untilWritten()
      let cause = cause(of: error, in: parts)
      guard let failure else { throw cause }
      throw HistoryGroupError(cause: cause, undoFailure: failure, residue: parts.id)
    }
  }

  private func entry(of parts: HistoryLedger.Machine.Groups.Opened) -> HistoryEntry? {
    // The group around a nested one may have ended, too.
    if nested != nil { return parts.record.map { $0.entry(applied: $0.size) } }
    return UseCaseQueue.operationHere.flatMap { ledger.entry(of: ledger.id(of: $0)) }
  }

  /// Returns false if the group was cancelled before its body, and never begins.
  private func begin(_ title: String, _ frame: HistoryFrame) -> Bool {
    let bytes = ledger.journal?.bytes(of: title) ?? []
    let (holder, isInterrupted) = (frame.holder, interrupted != nil)
    let spare = ledger.nextID()
    if let nested, Task.isCancelled {
      ledger.change { $0.groups.abandon(nested) }?.resume()
      return false
    }
    return ledger.change { machine in
      if let nested { return machine.enterNested(nested, writing: bytes) }
      machine.enterGroup(
        title, in: holder, spare: spare, isInterrupted: isInterrupted, writing: bytes)
      return true
    }
  }

  /// Returns the error without the residue of a group in this one. That residue was a part of this
  /// group, which has undone it, or names it in its own error.
  private func cause(
    of error: any Error, in parts: HistoryLedger.Machine.Groups.Opened
  ) -> any Error {
    guard let nested = error as? HistoryGroupError,
      parts.parts.contains(where: { $0.id == nested.residue })
    else { return error }
    return nested.cause
  }

  private func closed(_ group: HistoryEntry.ID) async -> HistoryLedger.Machine.Groups.Opened {
    if let interrupted { return interrupted }
    while true {
      if let parts = ledger.change({ $0.groups.close(group) }) { return parts }
      await withUnsafeContinuation { waiter in
        ledger.change { $0.groups.wait(waiter, for: group) }?.resume()
      }
    }
  }

  private func end(
    _ group: HistoryLedger.Machine.Groups.Opened, in frame: HistoryFrame,
    rolledBack residue: HistoryResidue<any HistoryStep>? = nil
  ) {
    let (holder, nobody) = (frame.holder, ledger.nextID())
    let kept = residue.map(\.kept) ?? group.record
    let (drops, waiter) = ledger.change {
      $0.end(group, as: kept, rolledBack: residue, in: holder, nobody: nobody)
    }
    ledger.discard(drops, in: frame)
    waiter?.resume()
  }

  /// Undoes the parts, and returns the rest of them. The parts are undone even if the body has
  /// thrown because it was cancelled, so this is an operation of its own. The timeout of an undo is
  /// its failure, and not that of the group.
  private func rollBack(
    _ group: HistoryLedger.Machine.Groups.Opened, in frame: HistoryFrame
  ) async -> (HistoryResidue<any HistoryStep>, (any Error)?) {
    guard let record = group.record else { return (HistoryResidue(), nil) }
    let rest = Lock(HistoryResidue<any HistoryStep>(kept: record))
    let outcome = await AnyUseCase<Void, Void>(queue: lane) { _ in
      let frame = frame.frame(of: frame.entry)
      var plan = HistoryLedger.Machine.Plan(isRedo: false, [record])
      defer {
        frame.end()
        let residue = HistoryResidue(of: &plan)
        rest.withLock { $0 = residue }
      }
      try await HistoryFrame.local.withValue(frame) {
        if let first = plan.nextStep() { try await plan.carryOut(from: first, in: frame) }
      }
    }.executeInside(()).ended()
    let residue = rest.withLock { $0 }
    // It is no failure if all parts are obsolete.
    guard residue.kept != nil else { return (residue, nil) }
    do {
      try outcome.get()
      return (residue, nil)
    } catch {
      return (residue, error)
    }
  }
}
