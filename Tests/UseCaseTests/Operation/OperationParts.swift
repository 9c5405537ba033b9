@testable import UseCase

/// A machine, compared by all that it consists of.
struct OperationParts: Hashable {
  typealias Machine = OperationMachine<Int, Int, Int, Int>

  var machine: Machine
  private var key = ""

  init(isObserved: Bool) {
    machine = Machine(isObserved: isObserved)
    refresh()
  }

  /// To be called after every change.
  mutating func refresh() {
    // The state of the machine is private, and its description shows all of it.
    key = "\(machine)"
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.key == rhs.key }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
