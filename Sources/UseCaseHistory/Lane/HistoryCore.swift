import UseCase
import UseCaseInternals

/// A history and its lane: where recorded bodies begin and end.
@usableFromInline
final class HistoryCore: Sendable {
  typealias ID = HistoryEntry.ID

  let ledger: HistoryLedger
  /// The serial queue on which everything runs.
  let lane: UseCaseQueue
  private let shared = Lock([ObjectIdentifier: any AnyObject & Sendable]())

  init(
    limit: Int?, mergeWindow: Duration, clock: any Clock<Duration>, journal: JournalWriter? = nil
  ) {
    ledger = HistoryLedger(limit: limit, mergeWindow: mergeWindow, clock: clock, journal: journal)
    lane = UseCaseQueue(keeper: ledger, clock: clock)
  }

  /// Returns the object of this type that the history keeps. The client makes it, where the type is
  /// known.
  @usableFromInline
  func shared<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    let type = ObjectIdentifier(Object.self)
    if let object = shared.withLock({ $0[type] }) as? Object { return object }
    let object = make()
    shared.withLock { $0[type] = object }
    return object
  }

  /// The role in this history of the running code, whose innermost frame is `here`. Nil if it does
  /// not run on the lane.
  func role(in here: HistoryFrame?) -> HistoryFrame.Role? {
    guard let frame = here?.running(of: ledger.history), lane.isHeldHere else { return nil }
    return frame.role
  }

  /// The fate of a recorded use case whose `main` is called.
  enum Beginning {
    /// It is executed first, which makes an operation of its own for it.
    case elsewhere
    /// It only runs, in this frame: the body that calls it answers for its undo too.
    case answered(HistoryFrame)
    /// It runs in this frame, and is recorded when it leaves.
    case recording(HistoryFrame)
  }

  /// A recorded use case of this type begins: its `main` is called.
  ///
  /// 1. The code does not run on the lane: a wrapper on another queue calls `main`. It is executed.
  ///
  ///        other queue:  wrapper { main ← we are here }
  ///
  /// 2. It runs inside a recorded body, an undo or a redo, which answers for it.
  ///
  ///        lane:  recorded body { main ← we are here }
  ///
  /// 3. It runs in the body of a group, and becomes a part of it.
  ///
  ///        lane:  group { main ← we are here }
  ///
  /// 4. A wrapper on the lane calls it, or an operation on another queue that runs inside of one on
  ///    the lane, or a task that was left behind by a body which is over. It is executed: as a guest
  ///    in the slot, which stays occupied whatever its caller does, or on its own if the slot was
  ///    given back meanwhile.
  ///
  ///        lane:  wrapper { main ← we are here }
  ///        lane:  use case of a client { other queue:  wrapper { main ← we are here } }
  ///        lane:  recorded body { Task { … } }   … main ← we are here
  ///
  /// 5. It is the body of an operation on the lane, and is recorded.
  ///
  ///        lane:  main ← we are here
  ///
  /// 6. The same, as a guest of an undo, a redo or a move, which rides a shared run that others
  ///    began. It only runs: nothing is recorded while entries move.
  ///
  ///        lane:  undo { rider of  other queue:  run { guest on the lane:  main ← we are here } }
  func enter(_ useCaseType: any Any.Type) -> Beginning {
    let (here, place) = (HistoryFrame.innermost, lane.placeHere)
    guard place.isHeld else { return .elsewhere }  // 1
    let outer = here?.running(of: ledger.history)
    if let outer {
      switch outer.role {
      case .body, .part:
        return .answered(frame(.body, outer.entrance, in: place, inside: here))  // 2
      case .group(let group) where ledger.change({ $0.groups.openPart(in: group) }):
        let entrance = HistoryLane.Entrance(holder: outer.entrance.holder, entry: ledger.nextID())
        return .recording(frame(.part(of: group), entrance, in: place, inside: here))  // 3
      case .group: break
      }
    }
    guard place.isBody(of: useCaseType), let operation = place.operation,
      here?.operation != operation
    else { return .elsewhere }  // 4
    let (entrance, move) = ledger.change { machine in
      (
        machine.enter(
          in: ledger.id(of: operation), leftIn: here?.entrance.holder, spare: ledger.nextID()),
        machine.runningMove
      )
    }
    if let entrance { return .recording(frame(.body, entrance, in: place, inside: here)) }  // 5
    guard let move else { preconditionFailure("A body that cannot begin runs in a move.") }
    let unrecorded = HistoryLane.Entrance(holder: move, entry: move)
    return .answered(frame(.body, unrecorded, in: place, inside: here))  // 6
  }

  private func frame(
    _ role: HistoryFrame.Role, _ entrance: HistoryLane.Entrance, in place: QueuePlace,
    inside here: HistoryFrame?
  ) -> HistoryFrame {
    HistoryFrame(role, entrance, of: ledger.history, in: place.operation, inside: here)
  }

  /// Returns a frame for the body of the operation that holds the lane, and for the entry that it
  /// will be.
  func frame(_ role: (ID) -> HistoryFrame.Role) -> HistoryFrame {
    guard let operation = QueuePlace.operation else {
      preconditionFailure("A body on the lane runs in an operation.")
    }
    let id = ledger.id(of: operation)
    return HistoryFrame(
      role(id), HistoryLane.Entrance(holder: id, entry: id), of: ledger.history, in: operation,
      inside: .innermost)
  }
}
