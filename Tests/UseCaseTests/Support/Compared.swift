/// A machine, compared by everything that it consists of: its state is private, and its description
/// shows all of it.
struct Compared<Machine>: Hashable {
  private(set) var machine: Machine
  private var description: String

  init(_ machine: Machine) {
    self.machine = machine
    description = "\(machine)"
  }

  mutating func change<Result>(_ body: (inout Machine) throws -> Result) rethrows -> Result {
    defer { description = "\(machine)" }
    return try body(&machine)
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
