import TestSupport
import Testing

@testable import UseCaseHistory

@Suite(.mustEnd)
struct HistoryMachineTests {
  typealias Machine = HistoryMachine<String, Int, Int>

  private static func machine(limit: Int? = nil) -> Machine {
    Machine(limit: limit, mergeWindow: .zero)
  }

  /// The targets of all that waits and runs, in the order of the lane.
  private static func targets(_ machine: Machine) -> [Machine.Target?] {
    machine.pending.map(\.target)
  }

  @Test func `those who ask at the same time are bound in the order of the lane`() throws {
    let asks: [(Int, HistoryAsk)] = [
      (1, .execution), (2, .undo), (3, .execution), (4, .undo), (5, .undo), (6, .redo),
    ]
    let start = Self.machine(running: "A")
    var inOrder = start
    for (operation, ask) in asks { inOrder.admit(operation, HistoryQuestion(ask)) }
    let first = start.applied[0].id
    let expected: [Machine.Target?] = [
      nil, .execution(1), nil, .execution(3), .entry(first), .entry(first),
    ]
    #expect(Self.targets(inOrder) == expected)
    let orders = try takeInEveryOrder(
      asks.map { operation, ask in
        Step("\(operation)") { (machine: inout Machine) in
          machine.admit(operation, HistoryQuestion(ask))
          return []
        }
      }, in: start
    ) { machine in
      if Self.targets(machine) != expected { throw Failure("\(Self.targets(machine))") }
    }
    #expect(orders == 720)
  }

  private static func machine(running text: String) -> Machine {
    var machine = machine()
    machine.run(text, as: 0)
    return machine
  }

  @Test func `who is heard of when a later one runs already is over`() {
    var machine = Self.machine()
    machine.admit(2, HistoryQuestion(.execution))
    machine.start(2)
    machine.admit(1, HistoryQuestion(.execution))
    #expect(machine.pending.map(\.operation) == [2])
  }

  @Test func `who leaves without having run takes nothing along`() {
    var machine = Self.machine()
    for operation in 1...4 { machine.admit(operation, HistoryQuestion(.execution)) }
    machine.settle(2, .cancelled)
    machine.settle(4, .cancelled)
    machine.settle(4, .ended)
    #expect(machine.isBusy)
    machine.start(1)
    machine.settle(1, .cancelled)
    #expect(machine.executions == 2)
    machine.enter()
    _ = machine.record("A", at: .zero)
    machine.start(3)
    machine.settle(3, .ended)
    #expect(!machine.isBusy && machine.pending.isEmpty)
    #expect(machine.applied.count == 1)
  }

  @Test func `who was never heard to leave is gone when a later one starts`() {
    var machine = Self.machine()
    for operation in 1...3 { machine.admit(operation, HistoryQuestion(.execution)) }
    machine.start(3)
    #expect(machine.pending.map(\.operation) == [3] && machine.executions == 1)
  }

  @Test func `an undo that is heard late is not for what has been cancelled`() {
    var machine = Self.machine()
    for operation in [1, 2, 4] { machine.admit(operation, HistoryQuestion(.execution)) }
    machine.start(1)
    machine.settle(2, .cancelled)
    machine.admit(3, HistoryQuestion(.undo))
    #expect(machine.pending.map(\.operation) == [1, 3, 4])
    #expect(machine.pending[1].target == .execution(1))
  }

  @Test func `what targets have become is forgotten when nobody can ask for it`() {
    var machine = Self.machine()
    machine.admit(0, HistoryQuestion(.execution))
    for operation in 1...1_000 {
      // The lane never falls idle, and an undo always waits.
      machine.admit(operation, HistoryQuestion(operation.isMultiple(of: 2) ? .execution : .undo))
      machine.finish(operation - 1)
      #expect(machine.resolved.count < 4)
    }
    machine.finish(1_000)
    #expect(machine.applied.count == 1 && machine.undone.isEmpty)
  }

  @Test func `a group that waits has its title, which is forgotten after it`() {
    var machine = Self.machine()
    for operation in 1...3 { machine.admit(operation, HistoryQuestion(.group, title: "G")) }
    guard case .text("G")? = machine.snapshot().undo else {
      Issue.record("it has no title")
      return
    }
    machine.settle(3, .cancelled)
    #expect(machine.titles.map(\.operation) == [1, 2])
    machine.start(2)
    #expect(machine.titles.map(\.operation) == [2])
    machine.admit(4, HistoryQuestion(.execution))
    #expect(machine.snapshot().state.canUndo)
    if case .some = machine.snapshot().undo { Issue.record("it has the title of another") }
    machine.start(4)
    #expect(machine.titles.isEmpty)
  }

  @Test func `groups that ask at the same time keep their titles`() throws {
    let orders = try takeInEveryOrder(
      (1...4).map { operation in
        Step("\(operation)") { (machine: inout Machine) in
          let ask = HistoryQuestion(operation == 3 ? .execution : .group, title: "\(operation)")
          machine.admit(operation, ask)
          return []
        }
      }, in: Self.machine()
    ) { world in
      var machine = world
      let titles = machine.titles.map(\.title)
      if titles != ["1", "2", "3", "4"] { throw Failure("\(titles)") }
      machine.settle(4, .cancelled)
      machine.settle(3, .cancelled)
      guard case .text("2")? = machine.snapshot().undo else { throw Failure("it has no title") }
    }
    #expect(orders == 24)
  }

  @Test func `a body does not begin in a slot that has gone on to another`() {
    var machine = Self.machine()
    for operation in 1...2 { machine.admit(operation, HistoryQuestion(.execution)) }
    machine.start(2)
    let (stale, present) = (machine.enterFirst(in: 1), machine.enterFirst(in: 2))
    #expect(!stale && present)
  }

  @Test func `what was for an execution that has failed is for nothing else`() {
    var machine = Self.machine()
    for operation in 1...2 { machine.run("\(operation)", as: operation) }
    machine.admit(3, HistoryQuestion(.execution))
    machine.start(3)
    machine.enter()
    machine.admit(5, HistoryQuestion(.undo))
    _ = machine.fail()
    machine.admit(4, HistoryQuestion(.undo))
    machine.finish(4)
    machine.start(5)
    let error = machine.begin().error
    #expect(error == .outOfTurn)
  }

  @Test func `what a clear has unbound stays so when others are heard of`() {
    var machine = Self.machine()
    machine.admit(1, HistoryQuestion(.execution))
    machine.admit(4, HistoryQuestion(.undo))
    #expect(Self.targets(machine) == [nil, .execution(1)])
    _ = machine.clear(isInside: false)
    machine.admit(2, HistoryQuestion(.execution))
    machine.admit(3, HistoryQuestion(.undo))
    #expect(Self.targets(machine) == [nil, nil, nil, nil])
    machine.admit(5, HistoryQuestion(.undo))
    #expect(Self.targets(machine).last == .execution(2))
  }

  @Test(arguments: [true, false])
  func `a hundred thousand that wait can leave from either end`(fromFront: Bool) {
    var machine = Self.machine()
    let operations = 1...100_000
    for operation in operations { machine.admit(operation, HistoryQuestion(.execution)) }
    machine.start(1)
    let rest = operations.dropFirst()
    for operation in fromFront ? Array(rest) : rest.reversed() {
      machine.settle(operation, .cancelled)
    }
    #expect(machine.executions == 1 && machine.pending.count <= operations.count)
    machine.settle(1, .ended)
    #expect(machine.pending.isEmpty)
  }

  @Test func `a move goes where it was to, also when a lower limit has dropped that`() {
    var machine = Self.machine()
    for operation in 1...3 { machine.run("\(operation)", as: operation) }
    machine.admit(4, HistoryQuestion(.move(machine.applied[0].id)))
    machine.start(4)
    var plan = machine.begin()
    #expect(machine.setLimit(1).map(\.records.count) == [1])
    // Whoever looks ahead now sees that nothing will be applied.
    #expect(!machine.snapshot().state.canUndo && machine.snapshot().state.canRedo)
    while plan.next() != nil { plan.undid() }
    #expect(machine.finish(&plan).isEmpty)
    machine.admit(5, HistoryQuestion(.undo))
    #expect(!machine.snapshot().state.canUndo && machine.snapshot().state.canRedo)
    #expect(machine.pending.last?.target == nil && machine.undone.count == 2)
  }

  @Test func `dropping a million entries is one exchange`() {
    var machine = Self.machine()
    let records = (1...1_000_000).map { number in
      Machine.Record(id: HistoryEntry.ID(number: UInt64(number)), content: .single(""))
    }
    machine.applied = HistoryStack(records)
    machine.undone = HistoryStack(records)
    let times = (1...5).map { _ in
      var cleared = machine
      let begin = threadTime()
      let drops = cleared.clear(isInside: false)
      let time = threadTime() - begin
      #expect(drops.map(\.records.count) == [1_000_000, 1_000_000])
      return time
    }
    // A million steps of anything take longer than that.
    #expect(times.min() ?? .zero < .milliseconds(2))
  }

  // MARK: Groups

  /// A group with two parts that run at the same time, and what the owner does for it.
  private struct World {
    var machine = Machine(limit: nil, mergeWindow: .zero)
    var isResumed = false
    var taken: Set<String> = []
    var group: Machine.OpenGroup?

    mutating func resume(_ waiter: Int?) {
      if waiter != nil { isResumed = true }
    }
  }

  private func part(_ name: String) -> Step<World> {
    Step("open \(name)") { world in
      guard world.machine.openPart(in: 1) else { return [] }
      world.taken.insert(name)
      return [
        Step("close \(name)") { world in
          world.resume(world.machine.closePart(name, in: 1))
          return []
        }
      ]
    }
  }

  private func close() -> Step<World> {
    Step("close") { world in
      world.group = world.machine.closeGroup(1)
      return world.group == nil ? [wait()] : []
    }
  }

  private func wait() -> Step<World> {
    Step("wait") { world in
      world.isResumed = false
      world.resume(world.machine.wait(7, for: 1))
      return [Step("resume", when: \.isResumed) { _ in [close()] }]
    }
  }

  @Test func `a group ends once, with all that has begun in it`() throws {
    var world = World()
    world.machine.admit(1, HistoryQuestion(.group, title: "G"))
    world.machine.start(1)
    world.machine.enter()
    _ = world.machine.openGroup("G")
    let orders = try takeInEveryOrder([part("a"), part("b"), close()], in: world) { world in
      let parts = world.group?.parts.flatMap(\.steps) ?? ["never"]
      if Set(parts) != world.taken || parts.count != world.taken.count {
        throw Failure("\(parts) of \(world.taken)")
      }
      var machine = world.machine
      if machine.openPart(in: 1) { throw Failure("open after the end") }
    }
    #expect(orders > 20)
  }

  @Test func `a nested group keeps its parent open`() throws {
    var machine = Self.machine()
    machine.admit(1, HistoryQuestion(.group, title: "G"))
    machine.start(1)
    machine.enter()
    let outer = machine.openGroup("G")
    let opened = machine.openGroup("N", in: outer)
    let inner = try #require(opened)
    let early = (machine.closeGroup(outer), machine.wait(7, for: outer))
    #expect(early.0 == nil && early.1 == nil)
    let (isOpen, waiter) = (machine.openPart(in: inner), machine.closePart("a", in: inner))
    #expect(isOpen && waiter == nil)
    let nested = machine.closeGroup(inner)
    let end = machine.end(try #require(nested), applied: nil)
    #expect(end.waiter == 7 && end.drops.isEmpty)
    let group = machine.closeGroup(outer)
    _ = machine.end(try #require(group), applied: nil)
    #expect(machine.applied.last?.entry(applied: 1) { $0 }.layout == "G(N(a))")
    let late = machine.openGroup("late", in: inner)
    #expect(late == nil && !machine.isBusy)
  }
}

extension HistoryMachine where Step == String, Operation == Int {
  fileprivate var isBusy: Bool { executions + moves > 0 }

  /// Executes a step from its admission to its end.
  fileprivate mutating func run(_ step: String, as operation: Int) {
    admit(operation, HistoryQuestion(.execution))
    finish(operation)
  }

  /// Starts what waits and lets it succeed.
  fileprivate mutating func finish(_ operation: Int) {
    start(operation)
    guard isHolderPending else { return }
    if case .execution? = pending.first?.ask {
      enter()
      return recordLast("\(operation)", of: operation)
    }
    var plan = begin()
    while let step = plan.next() { plan.isRedo ? plan.redid(step) : plan.undid() }
    if !plan.records.isEmpty { _ = finish(&plan) }
    settle(operation)
  }

  /// Records what the last body in the slot has answered.
  fileprivate mutating func recordLast(_ step: String, of operation: Int) {
    _ = record(step, at: .zero)
    settle(operation)
  }

  private mutating func settle(_ operation: Int) {
    settle(operation, .returned)
    settle(operation, .ended)
  }
}

/// What an actor does next, without a pause, and what comes after it.
private struct Step<World> {
  let name: String
  var isReady: (World) -> Bool
  let run: (inout World) throws -> [Step]

  init(
    _ name: String, when isReady: @escaping (World) -> Bool = { _ in true },
    run: @escaping (inout World) throws -> [Step]
  ) {
    self.name = name
    self.isReady = isReady
    self.run = run
  }
}

/// Takes the steps in every order that there is, for worlds that cannot be compared.
private func takeInEveryOrder<World>(
  _ steps: [Step<World>], in world: World, atEnd: (World) throws -> Void
) throws -> Int {
  if steps.isEmpty { try atEnd(world) }
  var orders = steps.isEmpty ? 1 : 0
  for index in steps.indices where steps[index].isReady(world) {
    var (rest, next) = (steps, world)
    rest += try rest.remove(at: index).run(&next)
    orders += try takeInEveryOrder(rest, in: next, atEnd: atEnd)
  }
  if orders == 0 { throw Failure("waits for ever: \(steps.map(\.name))") }
  return orders
}
