import UseCase
import UseCaseInternals

/// Undo, redo and move: the request says which.
struct Move<Answer: MoveAnswer>: UseCase {
  let core: HistoryCore

  var queue: UseCaseQueue { core.lane }

  @inline(__always)
  func main(_: HistoryMove) async throws -> Answer {
    var plan = HistoryPlan<any HistoryStep>(isRedo: false, .none)
    guard let (first, frame) = try core.ledger.begin(&plan) else { return Answer(&plan) }
    var failure: (any Error)?
    do {
      try await HistoryFrame.local.withValue(.inside(frame)) {
        try await plan.carryOut(from: first, in: frame)
      }
    } catch {
      failure = error
    }
    core.ledger.finish(&plan, in: frame)
    await core.ledger.journal?.flush()
    if let failure { throw failure }
    return Answer(&plan)
  }
}

extension MoveAnswer {
  static var useCaseType: any Any.Type { Move<Self>.self }
}

// Not inlined, and by reference: the variables of a function take room in the frame of the task,
// and so does each copy of the plan.
extension HistoryLedger {
  /// The turn of a move has come. An undo of one entry asks the use cases of the later ones what
  /// they touch, outside of the lock. Returns the first leaf and a frame for it, nil if there is
  /// nothing to do.
  @inline(never)
  func begin(_ plan: inout Machine.Plan, apart: Set<HistoryEntry.ID> = []) throws(HistoryError)
    -> (first: Machine.Plan.Leaf, frame: HistoryFrame)?
  {
    var move: HistoryEntry.ID?
    let beginning = change { machine in
      move = machine.holder
      return machine.begin(apart: apart)
    }
    switch consume beginning {
    case .nothing: return nil
    case .refuse(let error): throw error
    case .go(let next):
      plan = next
      guard let move, let first = plan.nextStep() else {
        preconditionFailure("A move that has begun holds the lane, and has a leaf.")
      }
      return (first, HistoryFrame(of: move, operation(of: move), for: first.id, of: history))
    case .compare(let record, let rivals):
      let blockers = record.blockers(among: rivals)
      if blockers.isEmpty { return try begin(&plan, apart: apart.union(rivals.map(\.id))) }
      let error = HistoryError.blocked(by: blockers)
      _ = change { $0.refuse(error) }
      throw error
    }
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
      do {
        if id != frame.entrance.entry {
          try await carryOut(step, id, inside: frame)
        } else if isRedo {
          redid(try await step.redo())
        } else {
          try await step.undo()
          undid()
        }
      } catch {
        try lose(step, error)
      }
      leaf = isIncomplete ? nextStep() : nil
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
  private mutating func redid(_ step: any HistoryStep) { redid(.init(step)) }

  /// Throws the error again, if the plan does not go on without the step.
  @inline(never)
  private mutating func lose(_ step: any HistoryStep, _ error: any Error) throws {
    guard let obsolete = error as? HistoryObsolete else { throw error }
    guard lose(obsolete, as: step.wasObsolete()) else { throw error }
  }

  @inline(never)
  private mutating func carryOut(
    _ step: any HistoryStep, _ id: HistoryEntry.ID, inside outer: HistoryFrame
  ) async throws {
    let frame = outer.frame(of: id)
    defer { frame.end() }
    try await HistoryFrame.local.withValue(.inside(frame)) {
      if isRedo {
        redid(try await step.redo())
      } else {
        try await step.undo()
        undid()
      }
    }
  }
}
