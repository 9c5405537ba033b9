import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// The entries that undos and redos are bound to while others wait.
@Suite(.mustEnd)
struct HistoryForecastTests {
  private typealias Machine = TextMachine
  private typealias ID = HistoryEntry.ID

  private static func machine(_ pool: HistoryPool<String>) -> Machine {
    var machine = Machine()
    machine.restore(pool, inDoubt: [])
    return machine
  }

  /// The entry that a redo called now is for.
  private static func redoTarget(_ machine: Machine) -> ID? {
    var line = machine.line
    return line.redoTarget(of: machine.pool)
  }

  @Test func `a body that begins in a slot that has done its work can be undone`() {
    var machine = Machine()
    machine.admit(ID(1), nil)
    machine.start(ID(1))
    _ = machine.enter(in: ID(1), leftIn: nil, spare: ID(8))
    _ = machine.record(HistoryRecord(1), by: ID(1))
    machine.admit(ID(2), .undo)
    #expect(!machine.snapshot().state.canUndo)
    _ = machine.enter(in: ID(1), leftIn: nil, spare: ID(9))
    #expect(machine.snapshot().state.canUndo)
  }

  @Test func `what waits can be undone, unless it may record nothing`() {
    var machine = Machine()
    machine.admit(ID(1), handedOn, isUncertain: true)
    #expect(!machine.snapshot().state.canUndo)
    machine.admit(ID(2), handedOn)
    #expect(machine.snapshot().state.canUndo)
  }

  @Test func `a move that runs ends where its entry was, though that is forgotten`() {
    var machine = Self.machine(HistoryPool(.init(1), .init(2), .init(3)))
    machine.admit(ID(4), .move(ID(1)))
    machine.start(ID(4))
    var plan = Machine.Plan(isRedo: false, [])
    _ = machine.begin(&plan)
    _ = machine.forget(ID(1))
    let state = machine.snapshot().state
    #expect(!state.canUndo && state.canRedo)
  }

  @Test(arguments: [HistoryMove.redo, .redoEntry(ID(2)), .move(ID(2))])
  func `a redo is for the execution that is undone behind a redo`(move: HistoryMove) {
    var pool = HistoryPool(HistoryRecord(1, .keys(1)), HistoryRecord(2, .keys(2)))
    pool.undo(2, .moved)
    var machine = Self.machine(pool)
    machine.admit(ID(3), handedOn)
    _ = machine.describe([(ID(3), .keys(3))])
    machine.admit(ID(4), move)
    machine.admit(ID(5), .undoEntry(ID(3)))
    #expect(Self.redoTarget(machine) == ID(3))
  }

  @Test(arguments: [HistoryMove.undo, .undoEntry(ID(1)), .undoEntry(ID(2)), .move(ID(1))])
  func `a redo is for the group that is half undone, whatever comes before`(move: HistoryMove) {
    var pool = HistoryPool(
      HistoryRecord(1, .keys(1)), HistoryRecord(group: 2, .keys(2), .keys(2)))
    pool.undo(2, .moved)
    var machine = Self.machine(pool)
    machine.admit(ID(3), move)
    #expect(Self.redoTarget(machine) == ID(2))
  }
}
