import UseCase

/// The answer to a client for a move that is done.
protocol MoveAnswer: Sendable {
  init(_ plan: borrowing HistoryPlan<any HistoryStep>)
  /// There was nothing to do.
  static var nothing: Self { get }
}

extension HistoryEntry?: MoveAnswer {
  init(_ plan: borrowing HistoryPlan<any HistoryStep>) { self = plan.entry }
  static var nothing: Self { .none }
}

extension [HistoryEntry]: MoveAnswer {
  init(_ plan: borrowing HistoryPlan<any HistoryStep>) { self = plan.entries }
  static var nothing: Self { [] }
}

/// Undo, redo and move: the request says which.
struct Move<Answer: MoveAnswer>: UseCase {
  let core: HistoryCore

  var queue: UseCaseQueue { core.lane }

  @inline(__always)
  func main(_: HistoryMove) async throws -> Answer {
    let ledger = core.ledger
    guard var plan = try ledger.begin() else { return .nothing }
    let frame = core.frame(of: plan.nextStep()?.id) { _ in .body }
    var failure: (any Error)?
    do {
      try await HistoryFrame.local.withValue(.inside(frame)) {
        try await plan.carryOut(in: frame)
      }
    } catch {
      failure = error
    }
    ledger.finish(&plan, in: frame)
    await ledger.journal?.flush()
    if let failure { throw failure }
    return Answer(plan)
  }
}

// Not inlined: the variables of a function take room in the frame of the task.
extension HistoryLedger {
  /// The turn of a move has come. What an undo of one entry has to know of the later ones, their use
  /// cases say, outside of the lock. Nil if there is nothing to do.
  @inline(never)
  func begin(apart: Set<HistoryEntry.ID> = []) throws(HistoryError) -> Machine.Plan? {
    switch change({ $0.begin(apart: apart) }) {
    case .nothing: return nil
    case .refuse(let error): throw error
    case .go(let plan): return plan
    case .compare(let record, let rivals):
      let blockers = record.blockers(among: rivals)
      if blockers.isEmpty { return try begin(apart: apart.union(rivals.map(\.id))) }
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
      // At once with the move: nobody is to find the lane held and nothing running there.
      frame.end()
      return machine.finish(&plan)
    }
    discard(drops, in: frame)
  }
}

extension HistoryPlan<any HistoryStep> {
  /// Undoes or redoes one leaf after the other, until all is done or one throws.
  ///
  /// Inlined, because each function that waits costs a frame on the stack of the task.
  @inline(__always)
  mutating func carryOut(in frame: HistoryFrame) async throws {
    while let (id, step) = nextStep() {
      do {
        if id != frame.entrance.entry {
          try await carryOut(step, in: frame.frame(of: id))
        } else if isRedo {
          redid(.init(try await step.redo()))
        } else {
          try await step.undo()
          undid()
        }
      } catch let error as HistoryObsolete {
        let place = HistoryEntry.ID.next()
        step.wasObsolete(place)
        guard lose(error, as: place) else { throw error }
      }
    }
    if let obsolete, !hasResult { throw obsolete }
  }

  /// Not inlined, because a record takes room in the frame of the task.
  @inline(never)
  mutating func nextStep() -> (id: HistoryEntry.ID, step: any HistoryStep)? {
    guard let leaf = next() else { return nil }
    guard let step = leaf.content.step else { preconditionFailure("A leaf is a step.") }
    return (leaf.id, step)
  }

  @inline(never)
  private mutating func carryOut(_ step: any HistoryStep, in frame: HistoryFrame) async throws {
    defer { frame.end() }
    try await HistoryFrame.local.withValue(.inside(frame)) {
      if isRedo {
        redid(.init(try await step.redo()))
      } else {
        try await step.undo()
        undid()
      }
    }
  }
}

extension Move {
  /// Returns the request of the operation, if it executes such a move.
  @inline(__always)
  static func request(of operation: any AdmittedOperation) -> HistoryMove? {
    guard operation.useCaseType == Self.self else { return nil }
    return (operation as AnyObject as? UseCaseOperation<HistoryMove, Answer>)?.request
  }
}
