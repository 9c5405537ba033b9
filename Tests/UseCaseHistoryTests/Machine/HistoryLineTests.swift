import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// The line of operations on the lane, as the machine of a history uses it.
@Suite(.mustEnd)
struct HistoryLineTests {
  private typealias Machine = TextMachine
  private typealias ID = HistoryEntry.ID

  /// A body begins. Returns the number of the entry that it will be.
  private static func enter(
    _ operation: Int, spare: Int, in machine: inout Machine
  ) -> ID? {
    let body = machine.enter(in: ID(operation), leftIn: nil, spare: ID(spare))
    return body.isRecorded ? body.entry : nil
  }

  private static func record(
    _ entry: Int, by holder: Int, touching footprint: HistoryFootprint = .everything,
    in machine: inout Machine
  ) {
    let content = HistoryRecord<String>.Content("", touching: footprint)
    _ = machine.record(HistoryRecord(id: ID(entry), content: content), by: ID(holder))
  }

  /// An execution runs, and becomes an entry.
  private static func execute(
    _ number: Int, touching footprint: HistoryFootprint = .everything, in machine: inout Machine
  ) {
    machine.admit(ID(number), nil)
    machine.start(ID(number))
    _ = enter(number, spare: 0, in: &machine)
    record(number, by: number, touching: footprint, in: &machine)
    machine.leave(ID(number))
  }

  /// An undo, a redo or a move does all that it is asked for.
  private static func move(_ number: Int, _ move: HistoryMove, in machine: inout Machine) {
    machine.admit(ID(number), move)
    machine.start(ID(number))
    var plan = Machine.Plan(isRedo: false, [])
    if case .success(_?) = machine.begin(&plan) {
      while let leaf = plan.next() { plan.isRedo ? plan.redid(leaf.content) : plan.undid() }
      plan.close()
      _ = machine.finish(&plan)
    }
    machine.leave(ID(number))
  }

  @Test func `each body in a slot is an entry of its own, also after the first ones are over`() {
    var machine = Machine()
    machine.admit(ID(1), nil)
    machine.start(ID(1))
    let first = [2, 3].map { Self.enter(1, spare: $0, in: &machine) }
    #expect(first == [ID(1), ID(3)])
    for entry in [1, 3] { Self.record(entry, by: 1, in: &machine) }
    #expect(!machine.line.isRecording)
    let later = [4, 5].map { Self.enter(1, spare: $0, in: &machine) }
    #expect(later == [ID(4), ID(5)] && machine.line.isRecording)
  }

  @Test func `an undo called while two bodies run is for the one that is recorded last`() {
    var machine = Machine()
    machine.admit(ID(1), nil)
    machine.start(ID(1))
    _ = [2, 3].map { Self.enter(1, spare: $0, in: &machine) }
    machine.admit(ID(4), .undo)
    for entry in [3, 1] { Self.record(entry, by: 1, in: &machine) }
    machine.leave(ID(1))
    machine.start(ID(4))
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(_?) = machine.begin(&plan) else {
      Issue.record("The undo begins.")
      return
    }
    #expect(plan.records.map(\.id) == [ID(1)])
  }

  @Test func `a clear from inside leaves nothing for an undo that waits`() {
    var machine = Machine()
    machine.admit(ID(1), nil)
    machine.start(ID(1))
    _ = Self.enter(1, spare: 2, in: &machine)
    machine.admit(ID(3), .undo)
    _ = machine.clear(isInside: true)
    Self.record(1, by: 1, in: &machine)
    machine.leave(ID(1))
    machine.start(ID(3))
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(nil) = machine.begin(&plan) else {
      Issue.record("The undo finds nothing.")
      return
    }
  }

  @Test func `a clear leaves nothing for an undo that is the first in line`() {
    var machine = Machine()
    Self.execute(1, in: &machine)
    machine.admit(ID(2), .undo)
    _ = machine.clear(isInside: false)
    machine.start(ID(2))
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(nil) = machine.begin(&plan) else {
      Issue.record("The undo finds nothing.")
      return
    }
  }

  @Test(arguments: [true, false])
  func `a clear leaves nothing for an undo behind one that runs, which goes on`(isInside: Bool) {
    var machine = Machine()
    for number in 1...2 { Self.execute(number, in: &machine) }
    for number in 3...4 { machine.admit(ID(number), .undo) }
    machine.start(ID(3))
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(_?) = machine.begin(&plan) else {
      Issue.record("The undo begins.")
      return
    }
    _ = machine.clear(isInside: isInside)
    #expect(machine.line.isRunning && machine.line.isBusy)
    plan.undid()
    plan.close()
    _ = machine.finish(&plan)
    machine.leave(ID(3))
    machine.start(ID(4))
    guard case .success(nil) = machine.begin(&plan) else {
      Issue.record("The undo finds nothing.")
      return
    }
  }

  @Test func `each execution is asked once what it is going to touch`() {
    var machine = Machine()
    func asked() -> [ID] { machine.line.undescribed.map(\.id) }
    machine.admit(ID(1), handedOn)
    machine.admit(ID(2), .undo)
    machine.admit(ID(3), handedOn)
    #expect(asked() == [1, 3].map({ ID($0) }))
    _ = machine.describe([1, 3].map { (ID($0), .keys($0)) })
    #expect(asked() == [])
    machine.admit(ID(4), handedOn)
    machine.admit(ID(5), .undo)
    #expect(asked() == [ID(4)])
    for number in [5, 3] { machine.leave(ID(number)) }
    #expect(asked() == [ID(4)])
    machine.leave(ID(4))
    #expect(asked() == [])
  }

  @Test func `the footprint of an execution that leaves is handed out once, to be released`() {
    var machine = Machine()
    for number in 1...3 { machine.admit(ID(number), handedOn) }
    _ = machine.describe([
      (ID(1), .keys(1)), (ID(2), .everything), (ID(3), .keys(3)),
    ])
    for number in [2, 1] { machine.leave(ID(number)) }
    #expect(machine.describe([]).count == 1)
    #expect(machine.describe([]).isEmpty)
  }

  @Test func `the version grows with each change that readers see, and with no other`() {
    var machine = Machine()
    let changes: [(grows: Bool, change: (inout Machine) -> Void)] = [
      (true, { $0.admit(ID(1), handedOn, isUncertain: true) }),
      (false, { $0.start(ID(1)) }),
      (true, { _ = Self.enter(1, spare: 2, in: &$0) }),
      (true, { Self.record(1, by: 1, in: &$0) }),
      (true, { _ = Self.enter(1, spare: 2, in: &$0) }),
      (true, { _ = $0.fail(ID(2), by: ID(1)) }),
      (false, { $0.leave(ID(1)) }),
      (true, { $0.admit(ID(3), handedOn) }),
      (true, { $0.leave(ID(3)) }),
      (false, { $0.admit(ID(4), .redo) }),
      (false, { $0.leave(ID(4)) }),
      (true, { machine in machine.markSaved(machine.savePoint()) }),
      (true, { $0.admit(ID(5), .undo) }),
      (true, { $0.start(ID(5)) }),
      (true, { _ = $0.forget(ID(1)) }),
    ]
    for (index, (grows, change)) in changes.enumerated() {
      let before = machine.version
      change(&machine)
      #expect((machine.version > before) == grows, "change \(index)")
    }
  }

  @Test func `an undo that waits is looked for anew when entries have left`() {
    let changes: [(inout Machine) -> Void] = [
      { _ = $0.forget(ID(1)) }, { _ = $0.setLimit(1) },
    ]
    for change in changes {
      var machine = Machine()
      for number in 1...2 { Self.execute(number, in: &machine) }
      machine.admit(ID(3), .undo)
      #expect(machine.snapshot().state.canUndo)
      change(&machine)
      #expect(!machine.snapshot().state.canUndo)
    }
  }

  @Test func `a body behind a move that does not begin is an entry of its own`() {
    for move in [HistoryMove.undo, .undoEntry(ID(9))] {
      var machine = Machine()
      machine.admit(ID(1), move)
      machine.start(ID(1))
      var plan = Machine.Plan(isRedo: false, [])
      _ = machine.begin(&plan)
      #expect(Self.enter(1, spare: 2, in: &machine) == ID(2))
    }
  }

  @Test func `an execution is over when its body is, whatever has become of it`() {
    let ends: [(inout Machine) -> Void] = [
      { Self.record(2, by: 2, in: &$0) },
      { _ = $0.fail(ID(2), by: ID(2)) },
      { machine in
        let ticket = machine.mergeCandidate()?.ticket
        let record = HistoryRecord(id: ID(2), content: .single(""))
        _ = machine.record(record, by: ID(2), .annul, ticket)
      },
      { machine in
        _ = machine.clear(isInside: false)
        Self.record(2, by: 2, in: &machine)
      },
    ]
    for end in ends {
      var machine = Machine()
      Self.execute(1, in: &machine)
      machine.admit(ID(2), nil)
      machine.start(ID(2))
      _ = Self.enter(2, spare: 3, in: &machine)
      end(&machine)
      #expect(!machine.line.isRecording && !machine.line.isRunning && !machine.line.isBusy)
    }
  }

  @Test func `an execution merges with the one before, unless something has come between`() {
    let moves: [HistoryMove?] = [
      nil, .undoEntry(ID(1)), .redoEntry(ID(1)), .undoEntry(ID(99)),
    ]
    for move in moves {
      var machine = Machine()
      for number in 1...2 { Self.execute(number, touching: .keys(number), in: &machine) }
      if case .redoEntry = move {
        for number in 1...2 { Self.move(10 + number, .undoEntry(ID(number)), in: &machine) }
      }
      Self.execute(20, touching: .keys(20), in: &machine)
      if let move { Self.move(30, move, in: &machine) }
      machine.admit(ID(40), nil)
      machine.start(ID(40))
      _ = Self.enter(40, spare: 41, in: &machine)
      #expect((machine.mergeCandidate() != nil) == (move == nil))
    }
  }

  @Test func `an execution that waits does not merge over a save point or behind a forget`() {
    let changes: [(inout Machine) -> Void] = [
      { _ = $0.savePoint() }, { _ = $0.forget(ID(1)) },
    ]
    for change in changes {
      var machine = Machine()
      for number in 1...2 { Self.execute(number, in: &machine) }
      machine.admit(ID(3), nil)
      change(&machine)
      machine.start(ID(3))
      _ = Self.enter(3, spare: 4, in: &machine)
      #expect(machine.mergeCandidate() == nil)
    }
  }
}
