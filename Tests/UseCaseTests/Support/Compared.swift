/// A machine, compared by everything that it consists of: its state is private, and its description
/// shows all of it.
struct Compared<Machine>: Hashable {
  private(set) var machine: Machine
  private var description = ""

  init(_ machine: Machine) {
    self.machine = machine
    describe()
  }

  /// Changes the machine, which is described anew before it is compared.
  mutating func change<Result>(_ body: (inout Machine) throws -> Result) rethrows -> Result {
    description = ""
    return try body(&machine)
  }

  /// Describes the machine after its changes: that takes longer than all else.
  mutating func describe() {
    if description.isEmpty { description = "\(machine)" }
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.description == rhs.description }

  func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// A promise that was not kept.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
}

func demand(_ condition: Bool, _ promise: String) throws {
  guard condition else { throw BrokenPromise(description: "not so: \(promise)") }
}
