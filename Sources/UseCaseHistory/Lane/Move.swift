import UseCase
import UseCaseInternals

/// Undo, redo and move: the request says which.
struct Move<Answer: Sendable>: UseCase, DescribedUseCase {
  let lane: HistoryLane
  let queue: UseCaseQueue
  var purpose = UseCaseExecution.Purpose.undo
  /// Says what has been undone or redone.
  let answer: @Sendable ([HistoryEntry]) -> Answer

  func describe(_ request: Any) -> (any AnyObject & Sendable)? {
    (request as? HistoryMove).map { HistoryWish(.move($0)) }
  }

  func main(_: HistoryMove) async throws -> Answer {
    let beginning = lane.change { $0.beginMove(isRecovery: purpose == .recovery) }
    guard try beginning.get() else { return answer([]) }
    let isRedo = lane.read { $0.isRedo }
    let failure = await lane.carryOut(for: purpose)
    let moved = lane.change { $0.finishMove() }
    await lane.journal?.settle(lane)
    if let failure { throw failure }
    return answer(moved.map { $0.entry(isApplied: isRedo) })
  }
}

extension HistoryLane {
  /// The end of an undo or a redo.
  private enum Ended {
    case event(Machine.Table.StepEnd)
    /// A transaction has told the machine already.
    case committed
  }

  /// Undoes or redoes one execution after the other, until all is done or one throws. Returns the
  /// error.
  nonisolated(nonsending) func carryOut(
    for purpose: UseCaseExecution.Purpose = .undo
  ) async -> (any Error)? {
    var obsolete: HistoryObsolete?
    while let (id, step) = change({ $0.nextStep() }) {
      let (ended, failure) = await carryOut(step, id, for: purpose)
      if case .event(let end) = ended, !change({ $0.stepEnded(end) }) { return failure }
      if case .event(.obsolete) = ended {
        obsolete = obsolete ?? failure as? HistoryObsolete
      } else if let failure {
        return failure
      }
      // The operation has failed if the step has ended late.
      if UseCaseQueue.hasFailedHere { return nil }
    }
    let (isRefused, hasMovedNothing) = read { ($0.isRefused, $0.hasMovedNothing) }
    if isRefused { return refusal }
    return hasMovedNothing ? obsolete : nil
  }

  private nonisolated(nonsending) func carryOut(
    _ step: any HistoryStep, _ id: HistoryEntry.ID, for purpose: UseCaseExecution.Purpose
  ) async -> (Ended, (any Error)?) {
    let frame = HistoryFrame(.answered, of: id, in: history)
    defer { frame.end() }
    let isRedo = read { $0.isRedo }
    let scope = scope(of: id, step as? StoredStep, isRedo: isRedo)
    do {
      if scope == nil || purpose == .recovery { try await journal?.intent(self) }
      return try await frame.run {
        if isRedo {
          let (redone, failure) = try await step.redo(in: scope)
          if scope != nil { return (.committed, failure) }
          return (.event(.redone(redone, redone.footprint)), failure)
        }
        let failure = try await step.undo(for: purpose, in: scope)
        return (scope == nil ? .event(.undone) : .committed, failure)
      }
    } catch {
      return (.event(error is HistoryObsolete ? .obsolete : .failed), error)
    }
  }

  /// The transaction of an undo or a redo, if the journal has transactions.
  private func scope(
    of id: HistoryEntry.ID, _ stored: StoredStep?, isRedo: Bool
  ) -> StepScope? {
    guard let journal, let database = journal.database, let stored else { return nil }
    let committed = JournalWriter.Committed(nil)
    return { [self] body in
      try await journal.transact(id, self, in: database, once: committed, body) { step in
        guard isRedo else { return { _ = $0.stepEnded(.undone) } }
        let redone = stored.answered(step)
        let footprint = redone.footprint
        return { _ = $0.stepEnded(.redone(redone, footprint)) }
      }
    }
  }
}

extension HistoryLane {
  /// Why the step that comes next is not undone or redone.
  private var refusal: any Error {
    do {
      _ = try (read { $0.refused }?.step as? StoredStep)?.step
      return HistoryJournalError(.inDoubt)
    } catch {
      return error
    }
  }
}
