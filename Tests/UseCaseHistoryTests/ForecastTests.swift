import TestSupport
import Testing

@testable import UseCaseHistory

/// What an undo or a redo is for is looked up in a forecast of all that waits, which the machine
/// keeps up with most events, and forgets with the others. Here it is made anew after each event.
@Suite(.mustEnd)
struct ForecastTests {
  @Test(arguments: 1...12)
  func `a forecast that was kept up is the one computed anew`(seed: UInt64) {
    var session = Session(seed: seed)
    var kept = 0
    for _ in 1...2_000 {
      session.step()
      let before = "\(session.machine.snapshot())"
      if session.machine.forecast.take() != nil { kept += 1 }
      let anew = "\(session.machine.snapshot())"
      guard before == anew else {
        let log = session.log.suffix(40).joined(separator: "\n")
        Issue.record("\(log)\n\(before), but anew:\n\(anew)")
        return
      }
    }
    #expect(kept > 200)
  }
}

/// A random sequence of all that may happen to a history, and who holds its lane.
private struct Session: ~Copyable {
  typealias Machine = HistoryMachine<String, Int, Int>

  /// What the holder of the lane does.
  private enum Holder {
    case none, bodies(Int), moves, group(Int)
  }

  var machine = Machine(limit: nil, mergeWindow: .seconds(1))
  private(set) var log: [String] = []
  private var random: SeededGenerator
  private var last = 0
  private var now = Duration.zero
  private var waiting: [Int] = []
  private var holder = Holder.none
  private var plan = Machine.Plan()

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  private mutating func chance(_ number: Int) -> Bool {
    Int.random(in: 0..<number, using: &random) == 0
  }

  private var isRunning: Bool {
    if case .none = holder { return false }
    return true
  }

  mutating func step() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40 where waiting.count < 10: ask()
    case 40..<44: cancel()
    case 44..<47: setLimit()
    case 47..<49: clear()
    case 49..<51: now += .seconds(2)
    case 51..<53: machine.breakMerging()
    default: isRunning ? goOn() : start()
    }
    log.append("\(machine.pending.map { "\($0.operation) \($0.ask)" }) \(holder)")
  }

  /// Mostly one asks, and now and then two at the same time, who are heard in the other order.
  private mutating func ask() {
    let count = chance(5) ? 2 : 1
    for operation in (last + 1...last + count).reversed() {
      let question = question()
      log.append("ask \(operation) \(question)")
      machine.admit(operation, question)
    }
    waiting += last + 1...last + count
    last += count
  }

  private mutating func question() -> HistoryQuestion {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3: return HistoryQuestion(.execution)
    case 3: return HistoryQuestion(.group, title: "group \(last)")
    case 4..<7: return HistoryQuestion(.undo)
    case 7..<9: return HistoryQuestion(.redo)
    default:
      let entries = machine.applied.map(\.id) + machine.undone.map(\.id)
      return HistoryQuestion(.move(entries.randomElement(using: &random)))
    }
  }

  private mutating func cancel() {
    guard let index = waiting.indices.randomElement(using: &random) else { return }
    let operation = waiting.remove(at: index)
    log.append("cancel \(operation)")
    machine.settle(operation, .cancelled)
    machine.settle(operation, .ended)
  }

  private mutating func setLimit() {
    let limit = [nil, nil, 0, 1, 3].randomElement(using: &random) ?? nil
    log.append("limit \(limit, default: "none")")
    _ = machine.setLimit(limit)
  }

  private mutating func clear() {
    let isInside = isRunning && chance(2)
    log.append("clear, inside: \(isInside)")
    _ = machine.clear(isInside: isInside)
  }

  private mutating func start() {
    guard !waiting.isEmpty else { return }
    let operation = waiting.removeFirst()
    log.append("start \(operation)")
    machine.start(operation)
    guard machine.isHolderPending, let ask = machine.pending.first?.ask else { return end() }
    switch ask {
    case .execution where chance(10):
      // One that is wrapped, and is not reached.
      end()
    case .execution:
      let bodies = chance(4) ? 2 : 1
      for _ in 0..<bodies { machine.enter() }
      holder = .bodies(bodies)
    case .group:
      machine.enter()
      holder = .group(machine.openGroup("group"))
    case .undo, .redo, .move:
      plan = machine.begin()
      if plan.records.isEmpty { end() } else { holder = .moves }
    }
  }

  private mutating func goOn() {
    switch holder {
    case .none: break
    case .bodies(let count):
      if chance(5) { _ = machine.fail() } else { record() }
      if count == 1 { end() } else { holder = .bodies(count - 1) }
    case .moves:
      if !chance(8), let step = plan.next() {
        if plan.isRedo { plan.redid(step) } else { plan.undid() }
      } else {
        plan.close()
        _ = machine.finish(&plan)
        end()
      }
    case .group(let group):
      if !chance(3), machine.openPart(in: group) {
        _ = machine.closePart(chance(5) ? nil : "part", in: group)
      } else if let parts = machine.closeGroup(group) {
        let applied = chance(3) ? Int.random(in: 0...parts.parts.count, using: &random) : nil
        _ = machine.end(parts, applied: applied)
        end()
      }
    }
  }

  private mutating func record() {
    guard let (step, barrier) = machine.mergeCandidate(at: now) else {
      _ = machine.record("step \(last)", at: now)
      return
    }
    let merges: [HistoryMerging<String>] = [.separate, .separate, .merged(step + "'"), .annul]
    let merge = merges.randomElement(using: &random) ?? .separate
    _ = machine.record("step \(last)", merge: merge, barrier: barrier, at: now)
  }

  /// What held the lane has returned.
  private mutating func end() {
    holder = .none
    guard let operation = machine.holder else { return }
    machine.settle(operation, .returned)
    if chance(12) {
      // Something that was left behind in the slot, or a second body of a wrapper.
      machine.enter(isLeftBehind: chance(2))
      holder = .bodies(1)
    } else {
      machine.settle(operation, .ended)
    }
  }
}
