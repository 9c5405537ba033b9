import TestSupport
import Testing
import UseCase

/// On a queue with one slot the handlers run in the order of the operations.
@Suite(.mustEnd)
struct HandlerOrderTests {
  enum Place: CaseIterable { case mainActor, actor, none, mixed }

  private let log = Log<[Int]>()

  /// The moments of an operation, as numbers that grow.
  private enum Moment: Int { case branch = 1, common, finally }

  private func note(_ number: Int, _ moment: Moment) {
    log.append([number, moment.rawValue])
  }

  private func attach(to operation: Operation) {
    let number = operation.request
    operation
      .then { _ in note(number, .branch) }
      .catch { _ in note(number, .branch) }
      .common { note(number, .common) }
      .finally { note(number, .finally) }
  }

  @MainActor private func attachOnMainActor(to operation: Operation) {
    let number = operation.request
    operation
      .then { _ in note(number, .branch) }
      .catch { _ in note(number, .branch) }
      .common { note(number, .common) }
      .finally { note(number, .finally) }
  }

  private actor Screen {
    private var count = 0

    func attach(to operation: Operation, _ note: @escaping @Sendable (Int, Int) -> Void) {
      let number = operation.request
      operation
        .then { _ in self.run { note(number, 1) } }
        .catch { _ in self.run { note(number, 1) } }
        .common { self.run { note(number, 2) } }
        .finally { self.run { note(number, 3) } }
    }

    private func run(_ handler: () -> Void) {
      count += 1
      handler()
    }
  }

  private func attach(to operation: Operation, at place: Place, of screen: Screen) async {
    let number = operation.request
    switch place {
    case .mainActor: await attachOnMainActor(to: operation)
    case .actor: await screen.attach(to: operation) { log.append([$0, $1]) }
    case .none: attach(to: operation)
    case .mixed:
      switch number % 5 {
      case 0: await attachOnMainActor(to: operation)
      case 1: await screen.attach(to: operation) { log.append([$0, $1]) }
      case 2: attach(to: operation)
      case 3:
        operation.then { _ in note(number, .branch) }
        await attachRestOnMainActor(to: operation)
      default:
        await attachBranchOnMainActor(to: operation)
        operation.common { note(number, .common) }.finally { note(number, .finally) }
      }
    }
  }

  @MainActor private func attachRestOnMainActor(to operation: Operation) {
    let number = operation.request
    operation.catch { _ in note(number, .branch) }
      .common { note(number, .common) }
      .finally { note(number, .finally) }
  }

  @MainActor private func attachBranchOnMainActor(to operation: Operation) {
    let number = operation.request
    operation.then { _ in note(number, .branch) }.catch { _ in note(number, .branch) }
  }

  /// Looks for what has run before something that should have run first.
  private func outOfOrder() -> Int {
    let lines = log.elements
    return zip(lines, lines.dropFirst()).count { !$0.lexicographicallyPrecedes($1) }
  }

  /// Every seventh fails, and some take a few turns.
  private func saving(on queue: UseCaseQueue) -> AnyUseCase<Int, Int> {
    AnyUseCase(queue: queue) { number in
      for _ in 0..<number % 3 { await Task.yield() }
      if number % 7 == 6 { throw Refused() }
      return number
    }
  }

  @Test(arguments: Place.allCases)
  func `of five thousand operations in a line no handler is out of order`(place: Place) async {
    let queue = UseCaseQueue(.serial)
    let (saving, screen) = (saving(on: queue), Screen())
    let count = tries("ORDER_TRIES", or: 5_000)
    queue.suspend()
    for number in 0..<count {
      await attach(to: saving.execute(number), at: place, of: screen)
    }
    queue.resume()
    await queue.idle()
    #expect(log.count == 3 * count)
    #expect(outOfOrder() == 0)
  }

  /// Two saves that are made one after the other, while the queue goes on.
  @Test(
    arguments: Place.allCases,
    [UseCaseQueue.Policy.serial, .keepLatest, .limit(1, waiting: 3), .keepLatest.spaced(by: .zero)])
  func `of five thousand saves that meet none shows an older version last`(
    place: Place, policy: UseCaseQueue.Policy
  ) async {
    let queue = UseCaseQueue(policy)
    let gates = Watched<[Int: Gate]>([:])
    let saving = AnyUseCase(queue: queue) { (number: Int) in
      await gates.update { $0[number] }?.passIgnoringCancellation()
      for _ in 0..<number % 3 { await Task.yield() }
      return number
    }
    let screen = Screen()
    let count = tries("ORDER_TRIES", or: 5_000) / 4
    for number in 0..<count {
      let gate = Gate()
      gates.update { $0[number] = gate }
      await attach(to: saving.execute(number), at: place, of: screen)
      gate.open()
      for _ in 0..<number % 4 { await Task.yield() }
    }
    await queue.idle()
    // Those that gave way or were refused have told so at once, out of turn.
    let lines = log.elements
    let delivered = Set(lines.filter { $0[1] == 1 }.map { $0[0] })
    let told = lines.filter { delivered.contains($0[0]) }
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    #expect(told.count == 3 * delivered.count && !delivered.isEmpty)
    if policy == .serial { #expect(delivered.count == count) }
    if policy != .limit(1, waiting: 3) { #expect(delivered.contains(count - 1)) }
  }

  @Test @MainActor
  func `the handlers for a cancellation do not wait for the operation before`() async {
    let held = Held(.serial)
    let log = Log<String>()
    let first = held.execute(1).then { _ in log.append("first") }
    let second = held.execute(2).onCancel { _ in log.append("second") }
    second.cancel()
    await second.ended()
    #expect(log.elements == ["second"])
    held.open(1)
    await first.ended()
  }

  @Test func `the next body does not begin before the handlers of the one before have run`() async {
    let held = Held(.serial)
    let desk = Desk()
    let operations = held.executeFirst(3)
    for operation in operations { await desk.record(operation) }
    desk.executor.hold()
    held.open(1...3)
    await desk.executor.jobs(atLeast: 1)
    #expect(held.begun.elements == [1])
    #expect(fates(operations) == "+WW")
    desk.executor.release()
    await allEnded(operations)
    #expect(
      desk.log.elements
        == (1...3).flatMap { ["then \($0)", "common", "finally"] })
  }
}
