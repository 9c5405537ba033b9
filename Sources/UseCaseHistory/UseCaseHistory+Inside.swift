import UseCase

extension UseCaseHistory {
  /// What becomes of a recorded use case whose `main` is called.
  enum Entrance {
    /// It is executed first, in this frame: the code that calls it does not run on the lane.
    case elsewhere(HistoryFrame)
    /// It only runs, in this frame: whoever calls it answers for its undo too.
    case answered(HistoryFrame)
    /// It runs in this frame, and is recorded when it leaves.
    case recording(HistoryFrame)
  }

  /// A recorded use case begins. What is recorded has to leave.
  func enter() -> Entrance {
    let here = HistoryFrame.innermost
    guard lane.isHeldHere else { return executeFirst(in: here) }
    guard let here else { return record(in: frame(.body, in: here)) }
    switch here.role(in: ledger) {
    case .body, .part:
      return .answered(frame(.body, in: here))
    case .group(let group) where ledger.change({ $0.openPart(in: group) }):
      return .recording(frame(.part(of: group), in: here))
    case .group, nil:
      if here.isOf(ledger), here.beginBody() { return record(in: here, isLeftBehind: true) }
      let holder = ledger.read { $0.holder }
      if lane.isHeldHere, ledger.change({ $0.enterFirst(in: holder) }) {
        return .recording(frame(.body, in: here))
      }
      // A task that was left behind, in a slot that is held by others, who do not wait for it.
      return executeFirst(in: here)
    }
  }

  private func record(in frame: HistoryFrame, isLeftBehind: Bool = false) -> Entrance {
    ledger.change { $0.enter(isLeftBehind: isLeftBehind) }
    return .recording(frame)
  }

  private func executeFirst(in outer: HistoryFrame?) -> Entrance {
    .elsewhere(HistoryFrame(HistoryQuestion(.execution), of: ledger, in: outer?.running))
  }

  private func frame(_ role: HistoryFrame.Role, in outer: HistoryFrame?) -> HistoryFrame {
    HistoryFrame(role, of: ledger, in: outer?.running)
  }

  /// What the running code is in this history, nil if it does not run on the lane.
  var role: HistoryFrame.Role? {
    guard let role = HistoryFrame.current?.role(in: ledger), lane.isHeldHere else { return nil }
    return role
  }
}
