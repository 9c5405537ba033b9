import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

@Suite(.mustEnd)
struct HistoryMachineTests {
  private typealias Machine = TextMachine
  private typealias ID = HistoryEntry.ID

  #if os(Linux) || os(macOS)
    @Test(.holds("Tasks that outlive a body"))
    func `a body cannot begin in a slot that has gone on to another`() async {
      await #expect(processExitsWith: .failure) {
        var machine = Machine()
        for number in 1...2 { machine.admit(ID(number), nil) }
        machine.start(ID(1))
        machine.leave(ID(1))
        machine.start(ID(2))
        let id = ID(1)
        _ = machine.enter(in: id, leftIn: nil, spare: ID(9))
      }
    }

    @Test func `a body cannot end when its operation has given the lane back`() async {
      let message = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        var machine = Machine()
        let id = ID(1)
        machine.admit(id, nil)
        machine.start(id)
        let body = machine.enter(in: id, leftIn: nil, spare: ID(9))
        machine.leave(id)
        if body.isRecorded { _ = machine.fail(body.entry, by: body.holder) }
      }
      let text = String(decoding: message?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("Execute the use case instead."))
    }
  #endif

  @Test func `a nested group and a part keep the order in which they ended`() throws {
    var machine = Machine()
    machine.admit(ID(1), nil)
    machine.start(ID(1))
    machine.enterGroup("", in: ID(1), spare: ID(9), isInterrupted: false, writing: [])
    _ = machine.groups.open(ID(2), "", in: ID(1))
    _ = machine.enterNested(ID(2), writing: [])
    for group in [2, 1] { _ = machine.groups.openPart(in: ID(group)) }
    let part = { TextMachine.Record(id: ID($0), content: .single("")) }
    _ = machine.endPart(ID(3), part(3), in: ID(2))
    let closed = machine.groups.close(ID(2))
    let nested = try #require(closed)
    _ = machine.end(nested, as: nested.record, in: ID(1), nobody: ID(9))
    _ = machine.endPart(ID(4), part(4), in: ID(1))
    let parts = machine.groups.close(ID(1))?.parts.map(\.id)
    #expect(parts == [ID(2), ID(4)])
  }

  @Test func `a nested group whose body has begun is not abandoned, and one that was never begins`()
  {
    var machine = Machine()
    machine.groups.open(ID(1), "")
    for group in [2, 3] { _ = machine.groups.open(ID(group), "", in: ID(1)) }
    var begin = machine.enterNested(ID(2), writing: [])
    #expect(begin)
    for group in [2, 3] { _ = machine.groups.abandon(ID(group)) }
    let isOpen = machine.groups.openPart(in: ID(2))
    begin = machine.enterNested(ID(3), writing: [])
    #expect(isOpen && !begin)
  }

  @Test func `a body that begins while a move runs is a part of the move`() {
    var machine = Machine()
    machine.restore(HistoryPool(HistoryRecord(1)), inDoubt: [])
    machine.admit(ID(2), .undo)
    machine.start(ID(2))
    let body = machine.enter(in: ID(2), leftIn: nil, spare: ID(3))
    #expect(body == (false, ID(2), ID(2)))
  }

  @Test func `the time to merge counts from the execution that merged last`() {
    var machine = Machine(limit: nil, mergeWindow: .seconds(4))
    for number in 1...3 {
      let id = ID(number)
      machine.admit(id, nil)
      machine.time(.seconds(3 * number))
      machine.start(id)
      _ = machine.enter(in: id, leftIn: nil, spare: ID(9))
      let candidate = machine.mergeCandidate()
      #expect(candidate?.entry.id == (number == 1 ? nil : ID(1)))
      _ = machine.record(
        HistoryRecord(number), by: id, candidate == nil ? .separate : .merged(.single("")),
        candidate?.ticket)
      machine.leave(id)
    }
  }

  @Test func `a group drops only the branch that it contradicts, and its journal has that`() {
    var pool = HistoryPool(HistoryRecord(1, .keys(1)), HistoryRecord(2, .keys(2)))
    for number in [2, 1] { pool.undo(number, .moved) }
    var machine = Machine()
    machine.restore(pool, inDoubt: [])
    machine.admit(ID(3), nil)
    machine.start(ID(3))
    machine.enterGroup("", in: ID(3), spare: ID(9), isInterrupted: false, writing: [])
    guard machine.groups.open(ID(4), "", in: ID(3)), machine.enterNested(ID(4), writing: []),
      machine.groups.openPart(in: ID(4))
    else {
      Issue.record("The groups are open.")
      return
    }
    _ = machine.endPart(ID(5), HistoryRecord(5, .keys(1)), in: ID(4))
    _ = machine.takeFacts()
    for group in [4, 3] {
      guard let closed = machine.groups.close(ID(group)) else { continue }
      _ = machine.end(closed, as: closed.record, in: ID(3), nobody: ID(9))
    }
    let facts = machine.takeFacts()
    #expect(
      facts == [
        .closed(ID(4), isLost: false), .contradicts([ID(1)]), .closed(ID(3), isLost: false),
      ])
    #expect(machine.pool.undone.records.map(\.id) == [ID(2)])
  }

  @Test func `the journal has which entry is redone out of order`() {
    var pool = HistoryPool(HistoryRecord(1, .keys(1)), HistoryRecord(2, .keys(2)))
    for number in [2, 1] { pool.undo(number, .moved) }
    var machine = Machine()
    machine.restore(pool, inDoubt: [])
    machine.admit(ID(3), .redoEntry(ID(2)))
    machine.start(ID(3))
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(ID(3)?) = machine.begin(&plan) else {
      Issue.record("The redo begins.")
      return
    }
    let (isRedo, facts) = (plan.isRedo, machine.takeFacts())
    #expect(isRedo && facts == [.redoes(ID(2))])
  }

  @Test(.holds("Dropping"))
  func `dropping a million entries is one exchange`() {
    var pool = HistoryPool<String>(limit: nil)
    for number in 1...1_000_000 {
      var drops: [HistoryDrop<String>] = []
      pool.record(
        HistoryRecord(id: ID(number), content: .single("")), dropping: nil, into: &drops)
    }
    let times = (1...5).map { _ in
      var cleared = pool
      let begin = threadTime()
      var drops: [HistoryDrop<String>] = []
      cleared.clear(into: &drops)
      let time = threadTime() - begin
      #expect(drops.map(\.count) == [1_000_000])
      return time
    }
    // A million steps of anything take longer than that.
    #expect(times.min() ?? .zero < .milliseconds(2))
  }

  @Test(arguments: [true, false])
  func `a hundred thousand that wait can leave from either end`(fromFront: Bool) {
    var machine = Machine()
    let numbers = 1...100_000
    for number in numbers { machine.admit(ID(number), nil) }
    machine.start(ID(1))
    let rest = Array(numbers.dropFirst())
    for number in fromFront ? rest : rest.reversed() { machine.leave(ID(number)) }
    #expect(machine.snapshot().state.isBusy)
    machine.leave(ID(1))
    #expect(!machine.snapshot().state.isBusy)
  }

  /// The machine looks up the entry of an undo or a redo in a forecast, which it keeps up while
  /// operations are admitted. The forecast is the one computed anew.
  @Test(arguments: 1...12)
  func `a forecast that was kept up is the one computed anew`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var machine = Machine()
    var (last, waiting, running) = (0, [Int](), Int?.none)
    var asked: [Int: HistoryMove] = [:]
    for _ in 1...2_000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4 where waiting.count < 10:
        last += 1
        waiting.append(last)
        // Mostly one of the last.
        let entry = ID(.random(in: max(1, last - 12)...last, using: &random))
        let moves: [HistoryMove?] = [
          nil, nil, nil, nil, .undo, .undo, .undo, .redo, .redo, .move(entry), .undoEntry(entry),
          .redoEntry(entry), .undoIn(.keys(1)), .redoIn(.keys(1)), .undoIn(.keys(2, 3)),
          .redoIn(.keys(2)),
        ]
        let move = moves.randomElement(using: &random) ?? nil
        if let move {
          machine.admit(ID(last), move)
        } else {
          machine.admit(ID(last), handedOn)
          _ = machine.describe([(ID(last), Self.footprint(&random))])
        }
        asked[last] = move
      case 4:
        guard let index = waiting.indices.randomElement(using: &random) else { continue }
        machine.leave(ID(waiting.remove(at: index)))
      case 5: _ = machine.setLimit([nil, nil, 1, 3].randomElement(using: &random) ?? nil)
      case 6 where Int.random(in: 0..<3, using: &random) > 0:
        _ = machine.forget(ID(.random(in: max(1, last - 12)...last + 1, using: &random)))
      case 6: _ = machine.clear(isInside: false)
      default:
        if let present = running.take() {
          machine.leave(ID(present))
        } else if !waiting.isEmpty {
          let next = waiting.removeFirst()
          running = next
          Self.run(next, asked[next], in: &machine, &random)
        }
      }
      guard Self.isAsComputedAnew(machine) else { return }
      _ = machine.snapshot()
    }
  }

  private static func isAsComputedAnew(_ machine: Machine) -> Bool {
    // To set the limit again forgets the forecast, and is a change.
    var (kept, anew) = (machine, machine)
    _ = anew.setLimit(anew.pool.limit)
    for document in [HistoryFootprint.everything, .keys(1), .keys(2, 3)] {
      var (present, expected) = (kept.snapshot(of: document), anew.snapshot(of: document))
      (present.state.version, expected.state.version) = (0, 0)
      if "\(present)" == "\(expected)" { continue }
      Issue.record("\(present), but anew: \(expected)")
      return false
    }
    return true
  }

  /// The operation has the lane, and does what it was asked for, or fails.
  private static func run(
    _ number: Int, _ move: HistoryMove?, in machine: inout Machine,
    _ random: inout SeededGenerator
  ) {
    machine.start(ID(number))
    _ = machine.snapshot()
    if move == nil {
      let bodies = [1, 1, 1, 2, 3].randomElement(using: &random) ?? 1
      for body in 1...bodies {
        guard isAsComputedAnew(machine) else { return }
        runBody(body, of: number, in: &machine, &random)
      }
      return
    }
    var plan = Machine.Plan(isRedo: false, [])
    guard case .success(_?) = machine.begin(&plan) else { return }
    _ = machine.snapshot()
    if Int.random(in: 0..<5, using: &random) == 0, let id = plan.next()?.id {
      _ = machine.forget(id)
      guard isAsComputedAnew(machine) else { return }
    }
    if Int.random(in: 0..<5, using: &random) > 0 {
      while let leaf = plan.next() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0 where plan.lose(HistoryObsolete(), as: ID(number + 900_000)): continue
        case 0...1: break
        default:
          plan.isRedo ? plan.redid(content(leaf.content.step ?? "", &random)) : plan.undid()
          continue
        }
        break
      }
    }
    if Int.random(in: 0..<9, using: &random) == 0 { _ = machine.clear(isInside: true) }
    plan.close()
    _ = machine.finish(&plan)
  }

  /// Half of them touch everything.
  private static func content(
    _ step: String, _ random: inout SeededGenerator
  ) -> HistoryRecord<String>.Content {
    .init(step, touching: footprint(&random))
  }

  private static func footprint(_ random: inout SeededGenerator) -> HistoryFootprint {
    let footprints: [HistoryFootprint] = [
      .everything, .everything, .everything, .keys(), .keys(1), .keys(2), .keys(1, 3),
    ]
    return footprints.randomElement(using: &random) ?? .everything
  }

  private static func record(
    _ step: String, _ entry: ID, _ random: inout SeededGenerator
  ) -> HistoryRecord<String> {
    HistoryRecord(id: entry, content: content(step, &random))
  }

  /// A recorded body, or the body of a group, or two bodies at once.
  private static func runBody(
    _ body: Int, of number: Int, in machine: inout Machine, _ random: inout SeededGenerator
  ) {
    let spare = number + body * 1_000_000
    let (isRecorded, entry, holder) = machine.enter(
      in: ID(number), leftIn: nil, spare: ID(spare))
    guard isRecorded else { return }
    _ = machine.snapshot()
    switch Int.random(in: 0..<10, using: &random) {
    case 0: _ = machine.fail(entry, by: holder)
    case 1...2 where body == 1:
      machine.groups.open(entry, "G")
      for part in 0..<Int.random(in: 0...3, using: &random) {
        let record = HistoryRecord(
          id: ID(spare + 10_000 * (part + 1)), content: content("P", &random))
        guard machine.groups.openPart(in: entry) else { continue }
        _ = machine.groups.closePart(record, in: entry)
      }
      guard let group = machine.groups.close(entry) else {
        preconditionFailure("Nothing is open in the group.")
      }
      let applied = Int.random(in: 0...group.parts.count, using: &random)
      let isRolledBack = Int.random(in: 0..<3, using: &random) == 0
      let kept = group.record?.split(at: applied, place: .of(group.id)).kept
      _ = machine.end(
        group, as: isRolledBack ? kept : group.record,
        rolledBack: isRolledBack ? .init(kept: kept) : nil, in: holder,
        nobody: ID(number + 500_000))
    case 3:
      let (isRecorded, second, _) = machine.enter(
        in: ID(number), leftIn: nil, spare: ID(spare + 500_000))
      guard isRecorded else { return }
      _ = machine.record(record("second", second, &random), by: holder)
      #expect(isAsComputedAnew(machine))
      _ = machine.record(record("\(number)", entry, &random), by: holder)
    case 4:
      _ = (
        machine.clear(isInside: true),
        machine.record(record("", entry, &random), by: holder)
      )
    default:
      let candidate = machine.mergeCandidate()
      let merges: [HistoryMerging<String>] = [.separate, .separate, .merged("merged"), .annul]
      let merging = merges.randomElement(using: &random)?.map { content($0, &random) }
      _ = machine.record(
        record("\(number)", entry, &random), by: holder, merging ?? .separate, candidate?.ticket)
    }
  }

  /// Three parts and a nested group begin and end in every order that there is, with the body of
  /// the group waiting from each moment on.
  @Test func `a group ends when all that has begun in it has, in every order`() {
    typealias Groups = Machine.Groups
    let (group, nested) = (ID(1), ID(2))
    for order in permutations([3, 4, 5, 2]) {
      for waitsBefore in 0...order.count {
        var groups = Groups()
        groups.open(group, "G")
        let begun =
          (3...5).map { _ in groups.openPart(in: group) } + [groups.open(nested, "N", in: group)]
        #expect(begun == [true, true, true, true])
        var resumed: [Int] = []
        for (index, part) in order.enumerated() {
          if index == waitsBefore, groups.wait(7, for: group) != nil { Issue.record("it waits") }
          if groups.close(group) != nil { Issue.record("it is open") }
          let waiter =
            part == 2
            ? groups.abandon(nested)
            : groups.closePart(
              HistoryRecord(id: ID(part), content: .single("")), in: group)
          if let waiter { resumed.append(waiter) }
          #expect(waiter == nil || index == order.count - 1)
        }
        if waitsBefore == order.count, groups.wait(7, for: group) == nil {
          Issue.record("it is over")
        }
        #expect(resumed == (waitsBefore < order.count ? [7] : []))
        let parts = groups.close(group)?.record?.content
        guard case .group(let closed)? = parts else {
          preconditionFailure("The group has ended with parts.")
        }
        #expect(closed.parts.map(\.id) == order.filter { $0 != 2 }.map { ID($0) })
        let isOpen = (groups.openPart(in: group), groups.open(nested, "N", in: group))
        #expect(isOpen == (false, false))
      }
    }
  }

  private func permutations(_ numbers: [Int]) -> [[Int]] {
    guard !numbers.isEmpty else { return [[]] }
    return numbers.flatMap { first in
      permutations(numbers.filter { $0 != first }).map { [first] + $0 }
    }
  }
}
