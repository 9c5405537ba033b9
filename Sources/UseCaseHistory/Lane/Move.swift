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
    switch ledger.begin() {
    case .nothing: return .nothing
    case .refuse(let error): throw error
    case .compare: preconditionFailure("The records have been compared.")
    case .go(var plan):
      let frame = core.frame(of: plan.nextStep()?.id) { _ in .body }
      var failure: (any Error)?
      do {
        try await HistoryFrame.local.withValue(.inside(frame)) {
          try await plan.carryOut(in: frame)
        }
      } catch {
        failure = error
      }
      plan.close()
      let drops = ledger.change { machine in
        // At once with the move: nobody is to find the lane held and nothing running there.
        frame.end()
        return machine.finish(&plan)
      }
      ledger.discard(drops, in: frame)
      await ledger.journal?.flush()
      if let failure { throw failure }
      return Answer(plan)
    }
  }
}

extension HistoryLedger {
  /// The turn of a move has come. What an undo of one entry has to know of the later ones, their use
  /// cases say, outside of the lock.
  @inline(never)
  func begin(apart: Set<HistoryEntry.ID> = []) -> Machine.Beginning {
    switch change({ $0.begin(apart: apart) }) {
    case .nothing: .nothing
    case .refuse(let error): .refuse(error)
    case .compare(let record, let rivals): compare(record, to: rivals, apart)
    case .go(let plan): .go(plan)
    }
  }

  @inline(never)
  private func compare(
    _ record: Machine.Record, to rivals: [Machine.Record], _ apart: Set<HistoryEntry.ID>
  ) -> Machine.Beginning {
    let blockers = record.blockers(among: rivals)
    if !blockers.isEmpty { return change { $0.refuse(.blocked(by: blockers)) } }
    return begin(apart: apart.union(rivals.map(\.id)))
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
