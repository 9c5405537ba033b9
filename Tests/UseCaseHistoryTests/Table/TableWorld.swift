import TestSupport
import UseCase

@testable import UseCaseHistory

/// A machine of numbers, step by step, and the rows that a journal would have.
struct TableWorld {
  typealias ID = HistoryEntry.ID
  typealias Machine = HistoryMachine<Int>
  typealias Row = HistoryRow<Int>

  private(set) var machine: Machine
  private(set) var rows: [ID: Row] = [:]
  private var last: UInt64 = 0
  private(set) var discarded: [Int] = []

  init(limit: Int? = nil) throws {
    machine = Machine(limit: limit, mergeWindow: .seconds(1))
    machine.take(try HistoryTable([], head: .init()))
    machine.setLimit(limit)
  }

  mutating func next() -> ID {
    last += 1
    return ID(number: last)
  }

  /// The journal is told.
  mutating func flush() {
    for _ in 0..<2 {
      let owed = machine.takeOwed()
      for (id, row) in owed.rows { rows[id] = row }
      discarded += owed.leaving.compactMap(\.step)
      _ = machine.haveLeft(Set(owed.leaving.map(\.id)))
    }
  }

  private mutating func ask(_ footprint: HistoryFootprint = .everything) -> ID {
    let id = next()
    machine.admit(id, title: "\(id)", footprint: footprint, at: .seconds(id.number * 2))
    machine.start(id)
    return id
  }

  mutating func execute(_ footprint: HistoryFootprint = .everything, fails: Bool = false) {
    let id = ask(footprint)
    _ = machine.begin(id, nil)
    flush()
    if fails {
      machine.fail(id)
    } else {
      machine.record(Int(id.number), touching: footprint)
    }
    machine.leave(id)
    flush()
  }

  /// A group of parts, of which some are in a group of their own. `verdicts` are those of the undos if
  /// it is rolled back.
  mutating func group(
    _ parts: [(footprint: HistoryFootprint, isNested: Bool)], fails: Bool = false,
    _ verdict: () -> Verdict = { .success }
  ) {
    let id = ask()
    _ = machine.beginGroup(id, title: "G\(id)")
    var nested: ID?
    for part in parts {
      if part.isNested, nested == nil {
        let new = next()
        machine.beginNested(new, in: id, title: "N\(new)")
        nested = new
      }
      let own = next()
      machine.beginPart(own, in: part.isNested ? nested ?? id : id, title: "\(own)", nil)
      flush()
      machine.endPart(own, (Int(own.number), part.footprint))
      flush()
    }
    if let nested { _ = machine.recordGroup(nested, in: id) }
    if fails {
      machine.beginRollBack(of: id)
      walk(verdict)
      _ = machine.endRollBack(of: id, in: nil)
    } else {
      _ = machine.recordGroup(id, in: nil)
    }
    machine.leave(id)
    flush()
  }

  enum Verdict { case success, failure, obsolete }

  @discardableResult
  mutating func move(_ move: HistoryMove, _ verdict: () -> Verdict = { .success }) -> Bool {
    let id = next()
    machine.admit(id, move)
    machine.start(id)
    defer {
      machine.leave(id)
      flush()
    }
    guard case .success(true) = machine.beginMove() else { return false }
    walk(verdict)
    _ = machine.finishMove()
    return true
  }

  private mutating func walk(_ verdict: () -> Verdict) {
    while let (_, step) = machine.nextStep() {
      flush()
      let end: HistoryTable<Int>.StepEnd =
        switch verdict() {
        case .success: machine.isRedo ? .redone(step, footprint(of: step)) : .undone
        case .failure: .failed
        case .obsolete: .obsolete
        }
      guard machine.stepEnded(end) else { return }
      flush()
    }
  }

  /// A redo touches something else than the execution did.
  private func footprint(of step: Int) -> HistoryFootprint {
    [.keys("a"), .keys("b"), .keys(), .everything][(step + rows.count) % 4]
  }

  /// The groups whose footprint is not that of their parts.
  var groupsWithOldFootprint: [ID] {
    [machine.table.applied, machine.table.undone].joined().filter {
      $0.isGroup && $0.footprint != .union(of: $0.leaves.map(\.footprint))
    }
    .map(\.id)
  }

  mutating func forget(_ id: ID) {
    machine.forget(id)
    flush()
  }

  mutating func clear() {
    machine.clear(isInside: false)
    flush()
  }

  mutating func limit(_ limit: Int?) {
    machine.setLimit(limit)
    flush()
  }

  mutating func save() {
    let place = machine.savePoint()
    machine.markSaved(place)
  }

  /// What a history is that is opened of the rows.
  func opened() throws -> HistoryTable<Int> {
    var table = try HistoryTable(rows.values.compactMap { $0 }, head: machine.table.head)
    _ = try table.finishOpening([:], keepsGroups: true)
    return table
  }

  var layout: String { machine.table.layout }
}

extension HistoryTable<Int> {
  /// All that a history says of its entries.
  var layout: String {
    func text(_ row: Row) -> String {
      let parts = row.parts.map { part in
        "\(part.isGroup ? "g" : part.state == .applied ? "+" : "-")\(part.id)<\(part.parent)"
      }
      return "\(row.id)\(parts.isEmpty ? "" : "(\(parts.joined(separator: " ")))")"
    }
    let sides = [applied.map(text), undone.reversed().map(text)].map { $0.joined(separator: " ") }
    let blockers = (applied.map(\.id) + undone.map(\.id)).map {
      "\(self.blockers(ofUndoing: $0))\(self.blockers(ofRedoing: $0))"
    }
    return """
      [\(sides.joined(separator: " | "))]\(isSaved ? "*" : "") \
      \(place.map { "\($0.sum)" } ?? "-") \(blockers.joined())
      """
  }
}
