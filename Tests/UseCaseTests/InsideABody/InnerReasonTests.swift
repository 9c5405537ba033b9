import TestSupport
import Testing
import UseCase

/// The reason of a call that was cancelled reaches the operation whose body made it.
@Suite(.mustEnd)
struct InnerReasonTests {
  /// Calls the held use case.
  private func calling(_ held: Held) -> AnyUseCase<Int, Int> {
    AnyUseCase { number in try await held(number) }
  }

  @Test(.holds("Reason of a call"))
  func `a body that ends with a superseded call is superseded`() async {
    let held = Held(.cancelPrevious)
    let operation = calling(held).execute(1)
    await held.begun.elements(atLeast: 1)
    let newer = held.execute(2)
    held.open(1...2)
    await allEnded([operation, newer])
    #expect(fates([operation, newer]) == "S+")
  }

  @Test func `a body that ends with a dropped call is dropped`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    let operation = calling(held).execute(2)
    #expect(await operation.ended().isCancelled(.dropped))
    held.open(1)
    await running.ended()
  }

  @Test func `a body that ends with a call that cancelAll has cancelled is cancelled so`() async {
    let held = Held(.serial)
    let operation = calling(held).execute(1)
    await held.begun.elements(atLeast: 1)
    held.queue.cancelAll()
    held.open(1)
    #expect(await operation.ended().isCancelled(.requested))
  }

  @Test(.holds("Reason of a call"))
  func `a reason goes through several calls`() async {
    let held = Held(.cancelPrevious)
    let middle = calling(held)
    let outer = AnyUseCase<Int, Int> { number in try await middle(number) }
    let operation = AnyUseCase<Int, Int> { number in
      async let answer = outer(number)
      return try await answer
    }.execute(1)
    await held.begun.elements(atLeast: 1)
    let newer = held.execute(2)
    held.open(1...2)
    await allEnded([operation, newer])
    #expect(fates([operation, newer]) == "S+")
  }

  @Test(.holds("Reason of a call"))
  func `a reason that the operation had already stays`() async {
    let held = Held(.cancelPrevious)
    let entered = Gate()
    let useCase = AnyUseCase<Int, Int> { number in
      let call = Task { try await held(number) }
      entered.open()
      return try await call.value
    }
    let operation = useCase.execute(1)
    await held.begun.elements(atLeast: 1)
    await entered.passIgnoringCancellation()
    let scope = UseCaseScope()
    operation.store(in: scope)
    scope.cancelAll()
    let newer = held.execute(2)
    held.open(1...2)
    await allEnded([operation, newer])
    #expect(fates([operation, newer]) == "C+")
  }

  @Test func `a body that handles the cancellation of its call succeeds or fails`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    let useCase = AnyUseCase<Int, Int> { number in
      guard let answer = try? await held(2) else {
        if number < 0 { throw Refused() }
        return 7
      }
      return answer
    }
    let operations = [useCase.execute(1), useCase.execute(-1)]
    await allEnded(operations)
    #expect(fates(operations) == "+F")
    held.open(1)
    await running.ended()
  }

  @Test func `a body that throws CancellationError without a call is cancelled as thrown`() async {
    let inner = AnyUseCase<Int, Int> { _ in throw CancellationError() }
    let outer = AnyUseCase<Int, Int> { number in try await inner(number) }
    #expect(await inner.execute(1).ended().isCancelled(.thrown))
    #expect(await outer.execute(1).ended().isCancelled(.thrown))
  }

  @Test func `a call that runs in the slot of its caller tells its reason, too`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    let queue = UseCaseQueue(.serial)
    let inner = AnyUseCase<Int, Int>(queue: queue) { number in try await held(number) }
    let outer = AnyUseCase<Int, Int>(queue: queue) { number in try await inner(number) }
    #expect(await outer.execute(2).ended().isCancelled(.dropped))
    held.open(1)
    await running.ended()
  }

  @Test func `the reason of an executed operation that is awaited by value does not count`() async {
    let held = Held(.dropWhileBusy)
    let running = held.execute(1)
    let outer = AnyUseCase<Int, Int> { number in try await held.execute(number).value }
    #expect(await outer.execute(2).ended().isCancelled(.thrown))
    held.open(1)
    await running.ended()
  }
}

extension UseCaseOutcome {
  fileprivate func isCancelled(_ reason: UseCaseCancellation) -> Bool {
    if case .cancelled(reason) = self { true } else { false }
  }
}
