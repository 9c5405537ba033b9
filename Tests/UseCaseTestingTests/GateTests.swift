import TestSupport
import Testing
import UseCaseTesting

@Suite(.mustEnd)
struct GateTests {
  @Test func `a gate lets tasks through that came before and after it opened`() async throws {
    let (gate, log) = (Gate(), Log<Int>())
    let early = Task {
      try await gate.pass()
      log.append(1)
    }
    #expect(log.elements.isEmpty)
    gate.open()
    gate.open()
    try await early.value
    try await gate.pass()
    #expect(log.elements == [1])
  }

  @Test func `a gate may be open from the start`() async throws {
    try await Gate(isOpen: true).pass()
  }

  @Test func `a waiting task that is cancelled throws though the gate stays closed`() async {
    let (gate, other) = (Gate(), Gate())
    let entered = Gate()
    let task = Task {
      entered.open()
      try await gate.pass()
    }
    let neighbour = Task {
      try await gate.pass()
      other.open()
    }
    await entered.passIgnoringCancellation()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
    _ = await neighbour.result
    #expect(other.isOpen)
  }

  @Test(arguments: [true, false])
  func `a task that is cancelled already throws at any gate`(isOpen: Bool) async {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await Gate(isOpen: isOpen).pass()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `in races of open and cancel every task goes on, passed or cancelled`() async throws {
    var passed = 0
    for round in 0..<2_000 {
      let gate = Gate()
      let tasks = (0..<4).map { _ in Task { try await gate.pass() } }
      async let opened: Void = gate.open()
      for task in tasks[..<(round % 4)] { task.cancel() }
      await opened
      for (index, task) in tasks.enumerated() {
        switch await task.result {
        case .success: passed += 1
        case .failure(let error):
          #expect(error is CancellationError)
          #expect(index < round % 4)
        }
      }
    }
    #expect(passed >= 2_000 * 4 - 500 * (1 + 2 + 3))
  }

  @Test func `a gate lets go of the tasks that were cancelled`() async {
    let (gate, lifetime) = (Gate(), Lifetime())
    for _ in 0..<100 {
      let task = Task { [token = lifetime.track()] in
        defer { withExtendedLifetime(token) {} }
        try await gate.pass()
      }
      task.cancel()
      _ = await task.result
    }
    await lifetime.over()
    gate.open()
  }
}
