import UseCase

@testable import UseCaseHistory

/// The machine of a history whose steps are texts.
typealias TextMachine = HistoryMachine<String, Int>

extension TextMachine {
  init() { self.init(limit: nil, mergeWindow: .zero) }

  mutating func leave(_ id: HistoryEntry.ID) { leave(id, hasSucceeded: true) }
}

extension HistoryEntry.ID {
  init(_ number: Int) { self.init(number: UInt64(number)) }
}

/// An operation that a machine only hands on.
let handedOn = HandedOn()

final class HandedOn: AdmittedOperation {
  let id = UseCaseOperationID.next()
  var useCaseType: any Any.Type { HandedOn.self }
  var description: ExecutionDescription? { nil }
}

extension HistoryRecord<String> {
  init(_ number: Int, _ footprint: HistoryFootprint = .everything) {
    self.init(id: .init(number), content: .init("\(number)", touching: footprint))
  }

  /// A group of two parts.
  init(group number: Int, _ first: HistoryFootprint, _ second: HistoryFootprint) {
    let parts = [Self(10 * number + 1, first), Self(10 * number + 2, second)]
    let group = HistoryParts(title: "\(number)", parts: parts, place: .of(.init(number)))
    self.init(id: .init(number), content: .group(group))
  }

  /// A group of two parts that touch everything.
  init(group number: Int) { self.init(group: number, .everything, .everything) }
}

/// What becomes of a step of an undo or a redo.
enum StepFate { case moved, lost }

extension HistoryPlan<String> {
  /// These are the fates of the next steps. No more is done.
  mutating func end(_ fates: [StepFate]) {
    for fate in fates {
      guard let leaf = next() else { continue }
      switch fate {
      case .moved: isRedo ? redid(leaf.content) : undid()
      case .lost: _ = lose(HistoryObsolete(), as: HistoryEntry.ID(900))
      }
    }
    close()
  }
}

extension HistoryPool<String> {
  init(_ records: HistoryRecord<String>...) {
    self.init(limit: nil)
    for record in records { add(record) }
  }

  /// Records, and leaves the branch as it is.
  mutating func add(_ record: HistoryRecord<String>) {
    var drops: [Drop] = []
    self.record(record, dropping: [], into: &drops)
  }

  mutating func undo(_ number: Int, _ fates: StepFate...) {
    var plan = take(HistoryEntry.ID(number))
    end(&plan, fates)
  }

  mutating func redo(_ fates: StepFate...) {
    var plan = take(1, isRedo: true)
    end(&plan, fates)
  }

  mutating func end(_ plan: inout Plan, _ fates: [StepFate]) {
    var drops: [Drop] = []
    plan.end(fates)
    putBack(&plan, into: &drops)
  }

  /// Changes it, and returns the steps that leave.
  @discardableResult
  mutating func change(_ body: (inout Self, inout [Drop]) -> Void) -> [String] {
    var (drops, steps) = ([Drop](), [String]())
    body(&self, &drops)
    for index in drops.indices { drops[index].removeAll { step, _ in steps.append(step) } }
    return steps
  }
}
