import TestSupport
import Testing

@testable import UseCaseHistory

/// The table of a history, and the rows that a journal has of it.
@Suite(.computes)
struct HistoryTableTests {
  private let keys = ["a", "b", "c"].map { HistoryFootprint.keys($0) }

  @Test(.holds("One table"))
  func `rows that were written make the table that wrote them, after every step`() throws {
    for seed in 1...200 {
      var random = SeededGenerator(seed: UInt64(seed))
      var world = try TableWorld()
      var steps: [String] = []
      for _ in 0..<40 {
        steps.append(step(&world, &random))
        #expect(world.groupsWithOldFootprint.isEmpty, "\(seed) \(steps)")
        let opened = try world.opened()
        guard opened.layout == world.layout else {
          Issue.record(
            "Seed \(seed): \(opened.layout) of \(world.layout)\n\(steps.joined(separator: "\n"))")
          return
        }
      }
    }
  }

  @Test func `each execution is discarded once, or is there`() throws {
    for seed in 1...200 {
      var random = SeededGenerator(seed: UInt64(seed))
      var world = try TableWorld(limit: 4)
      for _ in 0..<60 { _ = step(&world, &random) }
      world.clear()
      #expect(Set(world.discarded).count == world.discarded.count, "\(seed)")
      #expect(world.rows.values.compactMap { $0 }.isEmpty, "\(seed)")
    }
  }

  @Test(.holds("Partial branch"))
  func `an entry that touches nothing goes with the whole branch only`()
    throws
  {
    var world = try TableWorld()
    world.execute(.keys())
    world.execute(.keys("a"))
    world.move(.undo)
    world.move(.undo)
    world.execute(.keys("a"))
    #expect(world.machine.table.undone.map(\.footprint) == [.keys()])
    world.execute(.everything)
    #expect(world.machine.table.undone.isEmpty)
  }

  @Test func `a group that an opening finds redone touches what its redone parts touch`() throws {
    var world = try TableWorld()
    world.group([(.keys("a"), false), (.keys("b"), false)])
    world.move(.undo)
    let group = try #require(world.machine.table.undone.last)
    var rows = [group] + group.parts
    rows[0].parts = []
    for index in rows.indices { rows[index].state = .redoing }
    rows[2].state = .undone
    var table = try HistoryTable(rows, head: world.machine.table.head)
    let answers = [rows[1].id: HistoryTable<Int>.Settlement.hadEffect(7, .keys("c"))]
    _ = try table.finishOpening(answers, keepsGroups: true)
    #expect(table.applied.map(\.footprint) == [.keys("c").union(.keys("b"))])
  }

  private func footprint(_ random: inout SeededGenerator) -> HistoryFootprint {
    (keys + [.everything, .everything, .keys()]).randomElement(using: &random) ?? .everything
  }

  private func step(_ world: inout TableWorld, _ random: inout SeededGenerator) -> String {
    let choice = Int.random(in: 0..<100, using: &random)
    let any = world.machine.table.applied.map(\.id) + world.machine.table.undone.map(\.id)
    let id = any.randomElement(using: &random) ?? .nobody
    let verdicts: [TableWorld.Verdict] = [.success, .success, .success, .failure, .obsolete]
    var own = random
    _ = random.next()
    let verdict = { verdicts.randomElement(using: &own) ?? .success }
    switch choice {
    case 0..<25:
      let footprint = footprint(&random)
      world.execute(footprint, fails: choice < 3)
      return "execute \(footprint == .everything ? "*" : "keys")"
    case 25..<42:
      let parts = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        (footprint(&random), Bool.random(using: &random))
      }
      world.group(parts, fails: choice < 30, verdict)
      return "group \(parts.count) \(choice < 30)"
    case 42..<58: return "undo \(world.move(.undo, verdict))"
    case 58..<70: return "redo \(world.move(.redo, verdict))"
    case 70..<78: return "undo \(id) \(world.move(.undoEntry(id), verdict))"
    case 78..<84: return "redo \(id) \(world.move(.redoEntry(id), verdict))"
    case 84..<90: return "move \(id) \(world.move(.move(id), verdict))"
    case 90..<93:
      world.forget(id)
      return "forget \(id)"
    case 93..<96:
      world.save()
      return "save"
    case 96: world.clear(); return "clear"
    case 97: world.limit(3); return "limit 3"
    default: world.limit(nil); return "no limit"
    }
  }
}
