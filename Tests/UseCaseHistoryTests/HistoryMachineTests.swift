import TestSupport
import Testing

@testable import UseCaseHistory

@Suite(.mustEnd)
struct HistoryMachineTests {
  private typealias Machine = HistoryMachine<String, Int>

  private static func id(_ number: Int) -> HistoryEntry.ID {
    HistoryEntry.ID(number: UInt64(number))
  }

  private static func machine() -> Machine { Machine(limit: nil, mergeWindow: .zero) }

  @Test func `a body does not begin in a slot that has gone on to another`() {
    var machine = Self.machine()
    for number in 1...2 { machine.admit(Self.id(number), nil) }
    machine.start(Self.id(1))
    machine.leave(Self.id(1))
    machine.start(Self.id(2))
    let stale = machine.enter(in: Self.id(1), leftIn: nil, spare: Self.id(9))
    let present = machine.enter(in: Self.id(2), leftIn: nil, spare: Self.id(9))
    #expect(stale == nil && present?.entry == Self.id(2))
  }

  @Test func `dropping a million entries is one exchange`() {
    var pool = HistoryPool<String>(limit: nil)
    for number in 1...1_000_000 {
      var drops: [HistoryDrop<String>] = []
      pool.record(HistoryRecord(id: Self.id(number), content: .single("")), into: &drops)
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
    var machine = Self.machine()
    let numbers = 1...100_000
    for number in numbers { machine.admit(Self.id(number), nil) }
    machine.start(Self.id(1))
    let rest = Array(numbers.dropFirst())
    for number in fromFront ? rest : rest.reversed() { machine.leave(Self.id(number)) }
    #expect(machine.snapshot.state.isBusy)
    machine.leave(Self.id(1))
    #expect(!machine.snapshot.state.isBusy)
  }

  /// What an undo or a redo is for is looked up in a forecast, which the machine keeps up with most
  /// events and forgets with the others. It is the one computed anew.
  @Test(arguments: 1...12)
  func `a forecast that was kept up is the one computed anew`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var machine = Self.machine()
    var (last, waiting, running) = (0, [Int](), Int?.none)
    var moves: [Int: HistoryMove] = [:]
    for _ in 1...1_500 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4 where waiting.count < 10:
        last += 1
        waiting.append(last)
        let move: HistoryMove? =
          [nil, nil, .undo, .undo, .redo].randomElement(using: &random) ?? nil
        if let move {
          machine.admit(Self.id(last), move)
        } else {
          machine.admit(Self.id(last), nil)
        }
        moves[last] = move
      case 4:
        guard let index = waiting.indices.randomElement(using: &random) else { continue }
        machine.leave(Self.id(waiting.remove(at: index)))
      case 5: _ = machine.setLimit([nil, nil, 1, 3].randomElement(using: &random) ?? nil)
      case 6: _ = machine.clear(isInside: false)
      default:
        if let present = running.take() {
          machine.leave(Self.id(present))
        } else if !waiting.isEmpty {
          let next = waiting.removeFirst()
          running = next
          Self.run(next, moves[next], in: &machine, &random)
        }
      }
      // To set the limit again forgets the forecast, and is a change.
      var anew = machine
      _ = anew.setLimit(anew.limit)
      var (present, expected) = (machine.snapshot, anew.snapshot)
      (present.state.version, expected.state.version) = (0, 0)
      guard "\(present)" == "\(expected)" else {
        Issue.record("\(present), but anew: \(expected)")
        return
      }
      machine.lookAhead()
    }
  }

  /// The operation has the lane, and does what it was asked for, or fails.
  private static func run(
    _ number: Int, _ move: HistoryMove?, in machine: inout Machine,
    _ random: inout SeededGenerator
  ) {
    machine.start(id(number))
    if move == nil {
      guard let entrance = machine.enter(in: id(number), leftIn: nil, spare: id(number + 1_000_000))
      else { return }
      let fails = Int.random(in: 0..<5, using: &random) == 0
      _ = fails ? machine.fail(entrance) : machine.record("\(number)", entrance, at: .zero)
      return
    }
    guard case .go(var plan) = machine.begin() else { return }
    if Int.random(in: 0..<5, using: &random) > 0 {
      while let step = plan.next() { plan.isRedo ? plan.redid(step) : plan.undid() }
    }
    plan.close()
    _ = machine.finish(&plan)
  }
}
