@testable import UseCase

/// A machine and its handlers, compared by all that they consist of.
struct OperationParts: Hashable {
  var machine: OperationMachine<Int, Int, Int, Int>
  var handlers = Handlers<Int>()
  private var key: Key

  /// Everything that decides what the two will do, in types that can be compared.
  private struct Key: Hashable {
    let stage: OperationMachine<Int, Int, Int, Int>.Stage
    let fate: OperationWorld.Fate?
    let silence: UseCaseCancellation?
    let events: [OperationEvents]
    let flags: [Bool]
    let counts: [Int]
    let lists: [[Int]]
    let handlers: [OperationBranch]
  }

  init(isObserved: Bool) {
    machine = OperationMachine(isObserved: isObserved)
    key = Self.key(of: machine, handlers)
  }

  /// To be called after every change.
  mutating func refresh() {
    key = Self.key(of: machine, handlers)
  }

  private static func key(
    of machine: OperationMachine<Int, Int, Int, Int>, _ handlers: Handlers<Int>
  ) -> Key {
    var waiters = machine.waiters
    return Key(
      stage: machine.stage, fate: machine.verdict.map(OperationWorld.Fate.init),
      silence: machine.silence, events: [machine.announced, machine.told],
      flags: [
        machine.isEarly, machine.isJobCancelled, machine.isDelivering, machine.hasEnded,
        machine.isObserved, handlers.isCancelled,
      ],
      counts: [
        machine.parked ?? -1, machine.job ?? -1, Int(machine.shares),
        Int(machine.attached.success), Int(machine.attached.failure), Int(machine.begun),
        Int(machine.left), Int(handlers.count), Int(handlers.position),
      ],
      lists: [machine.extra.updates, waiters.removeAll().all, machine.extra.marks],
      handlers: [handlers.first.branch] + handlers.others.map(\.branch))
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.key == rhs.key }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
