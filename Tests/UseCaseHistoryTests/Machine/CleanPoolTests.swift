import TestSupport
import Testing

@testable import UseCaseHistory

/// The pool alone, in random sessions: whatever leaves, stops half-way or is lost, it is only clean
/// where the document is what was saved.
@Suite(.mustEnd)
struct CleanPoolTests {
  /// The pool, and the effects that are in the document.
  private struct Session {
    private typealias Record = HistoryRecord<Int>

    private var pool = HistoryPool<Int>(limit: nil)
    private var drops: [HistoryDrop<Int>] = []
    private var document: Set<HistoryEntry.ID> = []
    private var savedDocument: Set<HistoryEntry.ID>? = []
    private var last = 0
    private(set) var isWrong = false
    private(set) var log: [String] = []

    private mutating func id() -> HistoryEntry.ID {
      last += 1
      return HistoryEntry.ID(last)
    }

    mutating func step(_ random: inout SeededGenerator) {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<6: record(&random)
      case 6..<11: move(isRedo: false, &random)
      case 11..<15: move(isRedo: true, &random)
      case 15..<17: save()
      default: drop(&random)
      }
      drops = []
      isWrong = pool.isSaved && document != savedDocument
    }

    private mutating func record(_ random: inout SeededGenerator) {
      let keys: [HistoryFootprint] = [.everything, .keys(1), .keys(2), .keys(1, 2), .keys()]
      let parts = (1...Int.random(in: 1...3, using: &random)).map { _ in
        let footprint = keys.randomElement(using: &random) ?? .everything
        return Record(id: id(), content: .init(0, touching: footprint))
      }
      document.formUnion(parts.map(\.id))
      let group = id()
      let record =
        parts.count == 1 ? parts[0] : Record(group: group, "", parts, place: .of(group)) ?? parts[0]
      log.append("record \(record.id) of \(parts.count) touching \(record.footprint)")
      pool.record(record, dropping: pool.contradicted(by: record.footprint), into: &drops)
    }

    private mutating func move(isRedo: Bool, _ random: inout SeededGenerator) {
      let most = isRedo ? pool.redoable : pool.applied.count
      guard most > 0 else { return }
      let count = Int.random(in: 1...min(3, most), using: &random)
      var plan = pool.take(count, isRedo: isRedo)
      log.append("\(isRedo ? "redo" : "undo") \(count)")
      while let leaf = plan.next(), Int.random(in: 0..<6, using: &random) > 0 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          log.append("  \(leaf.id) is obsolete")
          if !plan.lose(HistoryObsolete(), as: id()) { plan.close() }
        case _ where isRedo:
          document.insert(leaf.id)
          log.append("  \(leaf.id) is redone")
          plan.redid(leaf.content)
        default:
          document.remove(leaf.id)
          log.append("  \(leaf.id) is undone")
          plan.undid()
        }
        if plan.obsolete != nil, !plan.hasLost { break }
        if Int.random(in: 0..<6, using: &random) == 0 { drop(&random) }
      }
      plan.close()
      pool.putBack(&plan, into: &drops)
    }

    private mutating func save() {
      log.append("save")
      pool.saved = pool.place
      savedDocument = document
    }

    /// The effects stay.
    private mutating func drop(_ random: inout SeededGenerator) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        log.append("clear")
        pool.clear(into: &drops)
      case 1..<5:
        let limit = Int.random(in: 0...4, using: &random)
        log.append("limit \(limit)")
        pool.setLimit(limit, into: &drops)
        pool.setLimit(nil, into: &drops)
      default:
        let records = pool.applied.records + pool.undone.records
        guard let record = records.randomElement(using: &random) else { return }
        log.append("forget \(record.id)")
        pool.forget(record.id, into: &drops)
      }
    }
  }

  @Test(.holds("Clean"), .holds("Gone"))
  func `a pool is clean only where the document is what was saved`() {
    for seed in 1...3_000 {
      var (random, session) = (SeededGenerator(seed: UInt64(seed)), Session())
      for _ in 0..<25 {
        session.step(&random)
        guard session.isWrong else { continue }
        let log = session.log.joined(separator: "\n")
        Issue.record("Seed \(seed): clean, and not what was saved\n\(log)")
        return
      }
    }
  }
}
