import TestSupport
import Testing
import UseCase

/// A button is busy until the handler of its answer has run.
@Suite(.serialized, .mustEnd) @MainActor
struct PayTests {
  enum Guard: CaseIterable, CustomTestStringConvertible {
    case policy, model

    var testDescription: String { self == .policy ? "dropWhileBusy alone" : "isRunning" }
  }

  /// A screen with a Pay button.
  @MainActor private final class Till {
    private(set) var isPaid = false
    let charges = Log<Int>()
    private let kind: Guard
    private let model: UseCaseModel<AnyUseCase<Int, Int>>
    private let queue: UseCaseQueue

    init(_ kind: Guard, body: @escaping @Sendable () async throws -> Void) {
      self.kind = kind
      queue = UseCaseQueue(kind == .policy ? .dropWhileBusy : .unlimited)
      model = UseCaseModel(
        AnyUseCase(queue: queue) { [charges] amount in
          charges.append(amount)
          try await body()
          return amount
        })
    }

    func tap() {
      guard !isPaid, kind == .policy || !model.isRunning else { return }
      model.execute(5).then { _ in self.isPaid = true }
    }

    /// Returns once the payment, and a second one if there was one, is over.
    func over() async {
      await queue.idle()
      #expect(await isReached { isPaid && !queue.isBusy })
    }
  }

  /// Keeps the main actor as busy as a screen that draws frames of eight milliseconds.
  private func draw() -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        let end = ContinuousClock.now + .milliseconds(8)
        while ContinuousClock.now < end {}
        await Task.yield()
      }
    }
  }

  @Test(arguments: Guard.allCases)
  func `two taps around the answer never pay twice on a busy main actor`(
    kind: Guard
  ) async throws {
    let count = tries("PAY_TRIES", or: 40)
    let frames = draw()
    defer { frames.cancel() }
    var twice = 0
    for number in 0..<count {
      let till = Till(kind) { try await ContinuousClock().sleep(for: .milliseconds(20)) }
      till.tap()
      let sweep = Duration.microseconds(4_000 * number / count - 2_000)
      try await ContinuousClock().sleep(for: .milliseconds(20) + sweep)
      till.tap()
      await till.over()
      if till.charges.count > 1 { twice += 1 }
    }
    #expect(twice == 0)
  }

  @Test(arguments: Guard.allCases)
  func `a tap in the frame in which the answer comes pays nothing`(kind: Guard) async {
    for round in 0..<200 {
      let gate = Gate()
      let returned = Log<Void>()
      let till = Till(kind) {
        await gate.passIgnoringCancellation()
        returned.append(())
      }
      till.tap()
      gate.open()
      #expect(comes { returned.count == 1 })
      for _ in 0..<round { yieldThread() }
      till.tap()
      #expect(!till.isPaid)
      await till.over()
      #expect(till.charges.count == 1)
    }
  }

  @Test(arguments: Guard.allCases)
  func `a tap as any job of the main actor pays nothing as long as the bill is open`(
    kind: Guard
  ) async {
    for round in 0..<500 {
      let gate = Gate()
      let till = Till(kind) { await gate.passIgnoringCancellation() }
      till.tap()
      gate.open()
      for _ in 0..<round % 50 { yieldThread() }
      while !till.isPaid {
        till.tap()
        await Task.yield()
      }
      await till.over()
      #expect(till.charges.count == 1)
    }
  }

  /// Such a body may have ended before its handler is attached. The rate is not promised.
  @Test(arguments: Guard.allCases)
  func `a payment that is answered at once is made, and how often twice is printed`(
    kind: Guard
  ) async {
    let count = 1_000
    var twice = 0
    for number in 0..<count {
      let till = Till(kind) {}
      till.tap()
      for _ in 0..<number % 4 { await Task.yield() }
      till.tap()
      await till.over()
      #expect(1...2 ~= till.charges.count)
      if till.charges.count > 1 { twice += 1 }
    }
    print("Answered at once, \(kind.testDescription): \(twice) of \(count) paid twice.")
  }

  @Test func `pay again is possible as soon as then begins`() async {
    let held = Held(.dropWhileBusy)
    for round in 1...500 {
      let again = Log<Operation>()
      let first = held.execute(2 * round)
        .then { _ in again.append(held.execute(2 * round + 1)) }
      held.open(2 * round...2 * round + 1)
      await first.ended()
      await allEnded(again.elements)
      #expect(fates(again.elements) == "+")
    }
  }
}
