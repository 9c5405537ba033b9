import UseCase

extension UseCaseHistory {
  /// What becomes of a recorded use case whose `main` is called.
  enum Entrance {
    /// It is executed first: the code that calls it does not run on the lane.
    case elsewhere
    /// It only runs: whoever calls it answers for its undo too.
    case answered
    /// It runs in this frame, and is recorded when it leaves.
    case recording(HistoryFrame)
  }

  /// A recorded use case begins. What is recorded has to leave.
  func enter() -> Entrance {
    guard lane.isHeldHere else { return .elsewhere }
    let here = HistoryFrame.current
    switch here?.role(in: ledger) {
    case .body, .part:
      return .answered
    case .group(let group) where ledger.change({ $0.openPart(in: group) }):
      return .recording(HistoryFrame(.part(of: group), of: ledger, in: here))
    case .group, nil:
      ledger.change { $0.enter() }
      return .recording(HistoryFrame(.body, of: ledger, in: here))
    }
  }

  /// What the running code is in this history, nil if it does not run on the lane.
  var role: HistoryFrame.Role? {
    guard let role = HistoryFrame.current?.role(in: ledger), lane.isHeldHere else { return nil }
    return role
  }
}
