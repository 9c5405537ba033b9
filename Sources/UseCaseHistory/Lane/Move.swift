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
    switch ledger.change({ $0.begin() }) {
    case .nothing: return .nothing
    case .refuse(let error): throw error
    case .go(var plan):
      let frame = core.frame { _ in .body }
      var failure: (any Error)?
      do {
        try await HistoryFrame.local.withValue(.inside(frame)) { try await plan.carryOut() }
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
      if let failure { throw failure }
      return Answer(plan)
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
