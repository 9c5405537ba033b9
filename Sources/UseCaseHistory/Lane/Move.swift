import UseCase
import UseCaseInternals

/// Undo, redo and move: the request says which.
struct Move<Answer: Sendable>: UseCase, DescribedUseCase {
  typealias Plan = HistoryPlan<any HistoryStep>

  let ledger: HistoryLedger
  let lane: UseCaseQueue
  /// Says what has been undone or redone.
  let answer: @Sendable (borrowing Plan) -> Answer

  var queue: UseCaseQueue { lane }

  func describe(_ request: Any) -> (any Sendable)? { request as? HistoryMove }

  @inline(__always)
  func main(_: HistoryMove) async throws -> Answer {
    var plan = Plan(isRedo: false, [])
    guard let (first, frame) = try ledger.begin(&plan) else { return answer(plan) }
    var failure: (any Error)?
    do {
      try await HistoryFrame.local.withValue(frame) {
        try await plan.carryOut(from: first, in: frame)
      }
    } catch {
      failure = error
    }
    ledger.finish(&plan, in: frame)
    await ledger.untilWritten()
    if let failure { throw failure }
    return answer(plan)
  }
}

// Not inlined, and by reference: the variables of a function take room in the frame of the task,
// and so does each copy of the plan.
extension HistoryLedger {
  /// The turn of a move has come. Returns the first leaf and a frame for it, nil if there is nothing
  /// to do.
  @inline(never)
  func begin(
    _ plan: inout Machine.Plan
  ) throws(HistoryError) -> (first: Machine.Plan.Leaf, frame: HistoryFrame)? {
    guard let move = try change({ $0.begin(&plan) }).get() else { return nil }
    guard let first = plan.nextStep() else { preconditionFailure("\(move) moves nothing.") }
    return (first, frame(of: first.id, in: move))
  }

  /// The move has come as far as it could.
  @inline(never)
  func finish(_ plan: inout Machine.Plan, in frame: HistoryFrame) {
    plan.close()
    let drops = change { machine in
      // Together with the move. Otherwise a caller could find the lane held, and no move on it.
      frame.end()
      return machine.finish(&plan)
    }
    discard(drops, in: frame)
  }
}

extension HistoryPlan<any HistoryStep> {
  typealias Leaf = (id: HistoryEntry.ID, step: any HistoryStep)

  /// Undoes or redoes one leaf after the other, until all is done or one throws.
  ///
  /// Inlined, because each function that waits costs a frame on the stack of the task. A function
  /// that does not wait is not inlined: its variables take room in that frame.
  @inline(__always)
  mutating func carryOut(from first: Leaf, in frame: HistoryFrame) async throws {
    var leaf = Optional(first)
    while let (id, step) = leaf {
      var failure: (any Error)?
      do {
        if id != frame.entry {
          failure = try await carryOut(step, id, inside: frame)
        } else if isRedo {
          failure = redid(try await step.redo(in: nil))
        } else {
          failure = try await step.undo(in: nil)
          undid()
        }
      } catch {
        try lose(step, error)
      }
      if let failure { throw failure }
      // The operation has failed if the step has returned late.
      leaf = isIncomplete && !UseCaseQueue.hasFailedHere ? nextStep() : nil
    }
    try failIfNothingIsLeft()
  }

  @inline(never)
  private mutating func failIfNothingIsLeft() throws {
    if let obsolete, !hasResult { throw obsolete }
  }

  @inline(never)
  mutating func nextStep() -> Leaf? {
    guard let leaf = next() else { return nil }
    guard let step = leaf.content.step else { preconditionFailure("A leaf is a step.") }
    return (leaf.id, step)
  }

  @inline(never)
  private mutating func redid(
    _ redone: (any HistoryStep, failure: (any Error)?)
  ) -> (any Error)? {
    redid(.init(redone.0))
    return redone.failure
  }

  /// Throws the error again, if the plan does not go on without the step.
  @inline(never)
  private mutating func lose(_ step: any HistoryStep, _ error: any Error) throws {
    guard let obsolete = error as? HistoryObsolete else { throw error }
    guard lose(obsolete, as: step.noteObsolete()) else { throw error }
  }

  @inline(never)
  private mutating func carryOut(
    _ step: any HistoryStep, _ id: HistoryEntry.ID, inside outer: HistoryFrame
  ) async throws -> (any Error)? {
    let frame = outer.frame(of: id)
    defer { frame.end() }
    return try await HistoryFrame.local.withValue(frame) {
      if isRedo { return redid(try await step.redo(in: nil)) }
      let failure = try await step.undo(in: nil)
      undid()
      return failure
    }
  }
}
