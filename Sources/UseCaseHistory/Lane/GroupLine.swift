import UseCase
import UseCaseInternals

/// The parts that the body of a group has asked for by `execute`: they run one after the other.
final class GroupLine: Sendable {
  let group: HistoryEntry.ID
  private let delegate: PartsDelegate
  private let made = Lock<UseCaseQueue?>(nil)

  init(of group: HistoryEntry.ID, in ledger: HistoryLedger) {
    self.group = group
    delegate = PartsDelegate(of: group, in: ledger)
  }

  var queue: UseCaseQueue {
    made.withLock { queue in
      // Nothing is measured by its clock: the timeouts of the parts are those of the lane.
      let line = queue ?? UseCaseQueue(delegate: delegate, clock: ContinuousClock())
      queue = line
      return line
    }
  }

  /// The queue, if a part has been asked for.
  var queueInUse: UseCaseQueue? { made.withLock { $0 } }

  /// The queue for which the running code has to wait. A part, and all that it awaits, does not wait
  /// for itself.
  var queueBefore: UseCaseQueue? { queueInUse.flatMap { $0.isLineHeldHere ? nil : $0 } }
}

/// Keeps the group open for the parts that wait in its line.
private final class PartsDelegate: QueueDelegate {
  private let group: HistoryEntry.ID
  /// A task that was made in the group may live longer than the history.
  private weak let ledger: HistoryLedger?

  init(of group: HistoryEntry.ID, in ledger: HistoryLedger) {
    self.group = group
    self.ledger = ledger
  }

  func admitted(_ operation: any AdmittedOperation) { ledger?.keepOpen(group) }

  func started(_ id: UseCaseOperationID) {}

  func left(_ id: UseCaseOperationID, hasSucceeded: Bool) { ledger?.keepOpenNoLonger(group) }

  func unlocked() { ledger?.change { $0.groups.takeWaiter(of: group) }?.resume() }
}
