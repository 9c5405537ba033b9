import TestSupport
import Testing

@testable import UseCase

/// One shared run and its riders, in every order of events.
struct RunMachineTests {
  private typealias Machine = RunMachine<UInt64, UInt64, Int, UInt64>

  private struct World: ActedWorld {
    enum Act: Hashable {
      case make, start, report(Int)
      case board(UInt64), await(UInt64), listen(UInt64), leave(UInt64, again: Bool)
      case keep(UInt64), release(UInt64)
    }

    private static let run: UInt64 = 100

    private var machine = Machine()
    private var aboard: Set<UInt64> = [1]
    private var isMade = false
    private var isRunning = false
    private var isOver = false
    private var cancellations = 0
    private var waiting: Set<UInt64> = []
    private var newest: Int?
    private var listening: Set<UInt64> = []
    /// The updates that each rider has heard, and those that it was to hear.
    private var heard: [UInt64: [Int]] = [:]
    private var due: [UInt64: [Int]] = [:]
    /// How often each rider is kept.
    private var kept: [UInt64: Int] = [:]

    /// The first rider boards the run that it makes.
    init() { _ = machine.board(id(1)) }

    func isReady(_ act: Act) -> Bool { true }

    mutating func take(_ act: Act) throws -> [Act] {
      defer { due = due.filter { aboard.contains($0.key) } }
      switch act {
      case .board(let rider):
        let isAboard = machine.board(id(rider))
        try demand(isAboard == !isOver, "a run that is over takes nobody")
        guard isAboard else { return [] }
        aboard.insert(rider)
        due[rider] = newest.map { [$0] } ?? []
        // One that does not ask for the run, and hears nothing, has fewer orders.
        let isPlain = rider > 9
        return (isPlain ? [] : [.await(rider), .listen(rider)]) + [.leave(rider, again: isPlain)]
      case .make:
        let count = machine.made(Self.run)
        try demand(count == kept.values.reduce(0, +), "the run hears of all that are kept already")
        isMade = true
        try check()
        return [.start]
      case .start:
        isRunning = !aboard.isEmpty
        isOver = !isRunning
        let start = machine.started()
        try demand(Set(start.waiters) == waiting, "those that wait go on when the run is executed")
        waiting = []
        let isCancelled = start.unwanted != nil
        try demand(isCancelled == isOver, "a run that nobody rides is cancelled")
        if isCancelled { cancellations += 1 }
        try check()
        return []
      case .keep(let rider):
        let run = machine.keep(id(rider), rider)
        try demand(run == (isMade ? Self.run : nil), "a run hears of a rider that is kept")
        kept[rider, default: 0] += 1
        try check()
        return [.release(rider)]
      case .release(let rider):
        let released = machine.release(id(rider))
        try demand(released?.rider == rider, "the rider that was kept is let go")
        try demand(released?.run == (isMade ? Self.run : nil), "a run hears of its release")
        kept[rider] = kept[rider] == 1 ? nil : (kept[rider] ?? 0) - 1
        try check()
        return []
      case .await(let rider):
        let waits = machine.awaitExecution(rider) == nil
        try demand(waits == !(isRunning || isOver), "only a run that is not executed is waited for")
        if waits { waiting.insert(rider) }
        return []
      case .report(let update):
        let report = machine.report(update)
        try demand(report.old == newest, "an update takes the place of the one before")
        newest = update
        for rider in aboard { due[rider, default: []].append(update) }
        try demand(
          Set(report.listeners) == listening.intersection(aboard), "all that listen hear it")
        for rider in report.listeners { heard[rider, default: []].append(update) }
        return []
      case .listen(let rider):
        let updates = machine.listen(id(rider), rider)
        guard aboard.contains(rider) else {
          try demand(updates.isEmpty, "a rider that has left hears nothing")
          return []
        }
        heard[rider, default: []] += updates
        try demand(heard[rider] == due[rider] ?? [], "no update is lost on the way")
        if updates.isEmpty { listening.insert(rider) }
        return updates.isEmpty ? [] : [.listen(rider)]
      case .leave(let number, let again):
        let isLast = aboard.remove(number) != nil && aboard.isEmpty && isRunning
        let run = machine.leave(id(number)).run
        try demand((run != nil) == isLast, "the last one to leave has the run")
        if isLast {
          (isRunning, isOver) = (false, true)
          cancellations += 1
        }
        try check()
        return again ? [.leave(number, again: false)] : []
      }
    }

    private func id(_ rider: UInt64) -> UseCaseOperationID { UseCaseOperationID(number: rider) }

    private func check() throws {
      try demand((machine.run != nil) == isMade, "there is a run from when it is made")
      try demand(machine.kept == kept.keys.sorted(), "the riders that are kept are known")
      try demand(!machine.isAboard(id(1)) || aboard.contains(1), "one that has left is not aboard")
      try demand((machine.executed != nil) == isRunning, "it is executed after that")
    }

    func checkEnd() throws {
      try demand(isOver && aboard.isEmpty && kept.isEmpty, "nothing is left")
      try demand(cancellations == 1, "the run was given up once")
      try demand(waiting.isEmpty, "nobody waits any more")
    }

    private func demand(_ condition: Bool, _ rule: String) throws {
      if !condition { throw Broken(description: rule) }
    }

    private struct Facts: Hashable {
      let sets: [Set<UInt64>]
      let flags: [Bool]
      let newest: Int?
      let kept: [UInt64: Int]
      let heard: [UInt64: [Int]]
      let due: [UInt64: [Int]]
    }

    private var facts: Facts {
      Facts(
        sets: [aboard, waiting, listening], flags: [isMade, isRunning, isOver], newest: newest,
        kept: kept, heard: heard, due: due)
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.facts == rhs.facts }

    func hash(into hasher: inout Hasher) { hasher.combine(facts) }
  }

  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  @Test(.holds("One run"), arguments: [[], [2], [10, 11], [10, 11, 12]])
  func `in every order a run is made once, heard by all, and given up when the last has left`(
    others: [UInt64]
  ) throws {
    var acts: [World.Act] = [.make, .leave(1, again: true), .keep(1)]
    if others.count < 2 { acts += [.report(1), .listen(1), .await(1)] }
    let (worlds, orders) = try World().takeInEveryOrder(acts + others.map { .board($0) })
    #expect(worlds >= 20 && orders >= 20)
  }

  @Test func `a rider that listens keeps no updates`() {
    var machine = Machine()
    let rider = UseCaseOperationID(number: 1)
    _ = machine.board(rider)
    func listen() -> [Int] { machine.listen(rider, 1) }
    _ = machine.report(1)
    let (first, second) = (listen(), listen())
    _ = machine.report(2)
    #expect(first == [1] && second.isEmpty && listen().isEmpty)
  }

  @Test func `a rider is kept as often as it came, and nobody is released twice`() {
    var machine = Machine()
    let rider = UseCaseOperationID(number: 1)
    #expect(machine.release(rider)?.rider == nil)
    _ = (machine.keep(rider, 1), machine.keep(rider, 1))
    let first = machine.release(rider)
    #expect(first?.rider == 1 && machine.kept == [1])
    let second = machine.release(rider)
    #expect(second?.rider == 1 && machine.kept.isEmpty)
    #expect(machine.release(rider)?.rider == nil)
  }

  @Test func `a rider that is about to board does not give way with the run`() {
    var machine = Machine()
    for number in [3, 2, 1] as [UInt64] {
      let rider = UseCaseOperationID(number: number)
      _ = machine.keep(rider, number, isBoarding: true)
      if number < 3 { _ = machine.board(rider) }
    }
    #expect(machine.supersede() == [1, 2])
    // It is too late, and finds another run.
    let late = UseCaseOperationID(number: 3)
    let boards = machine.board(late)
    let released = machine.release(late)?.rider
    #expect(!boards && released == 3 && machine.kept == [1, 2])
  }
}
