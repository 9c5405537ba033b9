import TestSupport
import Testing
import UseCase

/// The hook is one for the process, and other suites run meanwhile: each test asks for its own
/// operations only.
@Suite(.mustEnd, .serialized)
struct UnhandledFailureTests {
  private typealias Told = Watched<[UseCaseOperationID: [UseCaseUnhandledFailure]]>

  private let told = Told([:])
  private let log = Log<String>()
  private let failing = AnyUseCase<Int, Int> { _ in throw Refused(reason: "offline") }

  /// Runs the body with the hook in place.
  private nonisolated(nonsending) func listening(_ body: () async throws -> Void) async rethrows {
    UseCaseQueue.unhandledFailure = { [told] failure in
      told.update { $0[failure.id, default: []].append(failure) }
    }
    defer { UseCaseQueue.unhandledFailure = nil }
    try await body()
  }

  /// Returns once the failure is told.
  private nonisolated(nonsending) func heard(_ operation: Operation) async {
    let id = operation.id
    await told.wait { $0[id] != nil }
  }

  private func count(_ operation: Operation) -> Int { told.value[operation.id]?.count ?? 0 }

  /// Executes a use case that fails, and not before `body` has returned: what `body` attaches is in
  /// time, however long the machine pauses meanwhile.
  private func heldBack<Value>(_ body: (AnyUseCase<Int, Int>) -> Value) -> Value {
    let queue = UseCaseQueue()
    queue.suspend()
    defer { queue.resume() }
    return body(AnyUseCase(queue: queue) { _ in throw Refused(reason: "offline") })
  }

  /// Waits for later failures to be told, so that those which are due have been, too.
  private nonisolated(nonsending) func settle() async {
    for operation in (1...5).map({ failing.execute($0) }) { await heard(operation) }
  }

  /// Attaches nothing that counts, and returns once the operation has ended.
  private nonisolated(nonsending) func silentEnd(of operation: Operation) async {
    let end = Gate()
    operation.finally { end.open() }
    await end.passIgnoringCancellation()
  }

  @Test(.holds("Unhandled failures")) @MainActor
  func `a failure that an optimistic value shows is handled, whenever it came`() async {
    await listening {
      let value = OptimisticValue(0)
      let operation = failing.execute(1)
      while operation.outcome == nil { await Task.yield() }
      value.change(operation) { $0 = 1 }
      await settle()
      #expect(count(operation) == 0 && value.value == 0)
    }
  }

  @Test(.holds("Unhandled failures"))
  func `a failure that nobody hears is told once, with operation, type and error`() async {
    await listening {
      let operation = failing.execute(1)
      await heard(operation)
      await settle()
      let failures = told.value[operation.id] ?? []
      #expect(failures.count == 1)
      #expect(failures.first?.type == AnyUseCase<Int, Int>.self)
      #expect(failures.first?.error as? Refused == Refused(reason: "offline"))
      #expect(
        failures.first.map { "\($0)" }
          == "AnyUseCase<Int, Int> \(operation.id) failed, and nobody handled it: "
          + "\(Refused(reason: "offline"))")
    }
  }

  @Test(.holds("What handles a failure"))
  func `handlers that are not for the failure, and a scope, do not count`() async {
    await listening {
      let scope = UseCaseScope()
      let operation = failing.execute(1)
        .onStart {}.then { _ in }.common {}.onCancel { _ in }.finally {}
        .catch(Offline.self) { _ in }
        .store(in: scope)
      let late = heldBack { failing in
        let operation = failing.execute(2)
        return operation.finally { operation.onStart {} }
      }
      for operation in [operation, late] { await heard(operation) }
      await settle()
      #expect(count(operation) == 1 && count(late) == 1)
    }
  }

  @Test(.holds("What handles a failure"))
  func `a catch that matches or a finally with the outcome handles a failure`() async {
    await listening {
      let operations = heldBack { failing in
        [
          failing.execute(1).catch { _ in },
          failing.execute(2).catch(Offline.self) { _ in }.catch(Refused.self) { _ in },
          failing.execute(3).finally { _ in },
          failing.execute(4).common {}.catch { @MainActor _ in }.finally {},
        ]
      }
      for operation in operations { await silentEnd(of: operation) }
      await settle()
      #expect(operations.map(count) == [0, 0, 0, 0])
    }
  }

  @Test(.holds("What handles a failure")) @MainActor
  func `whoever awaits the value or the end handles a failure`() async {
    await listening {
      let queue = UseCaseQueue()
      queue.suspend()
      let useCase = AnyUseCase<Int, Int>(queue: queue) { _ in throw Refused() }
      let operations = (1...2).map { useCase.execute($0) }
      // Each runs when the one before it has given up the main actor: both wait before it goes on.
      let value = Task { _ = try? await operations[0].value }
      let end = Task { _ = await operations[1].ended() }
      Task { queue.resume() }
      await value.value
      await end.value
      await settle()
      #expect(operations.map(count) == [0, 0])
    }
  }

  @Test func `a body that awaits what would deadlock handles that`() async {
    await listening {
      let queue = UseCaseQueue(.serial)
      let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
      let operations = Log<UseCaseOperation<Int, Int>>()
      let outer = AnyUseCase<Int, Int>(queue: queue) { number in
        let operation = inner.execute(number)
        operations.append(operation)
        await #expect(throws: UseCaseDeadlock.self) { try await operation.valueOrCancel() }
        return number
      }
      await outer.execute(1).ended()
      await silentEnd(of: operations.elements[0])
      await settle()
      #expect(count(operations.elements[0]) == 0)
    }
  }

  @Test func `a task that awaited the value counts, though it was cancelled meanwhile`() async {
    await listening {
      let gate = Gate()
      let useCase = AnyUseCase<Int, Int> { _ in
        await gate.passIgnoringCancellation()
        throw Refused()
      }
      let operation = useCase.execute(1)
      let task = Task { try await operation.value }
      task.cancel()
      _ = try? await task.value
      gate.open()
      await silentEnd(of: operation)
      await settle()
      #expect(count(operation) == 0)
    }
  }

  @Test(.holds("What handles a failure")) @MainActor
  func `a model handles the failures that it shows`() async {
    await listening {
      let (model, operation) = heldBack { failing in
        let model = UseCaseModel(failing)
        return (model, model.execute(1))
      }
      await silentEnd(of: operation)
      await settle()
      #expect(count(operation) == 0 && model.error is Refused)
    }
  }

  @Test(.holds("What handles a failure")) @MainActor
  func `a failure that comes when nothing is there to show it is told`() async {
    await listening {
      await heard(heldBack { UseCaseModel($0, cancelsOnRelease: false).execute(1) })
      await heard(heldBack { OptimisticValue(0).change($0.execute(1)) { $0 = 1 } })
    }
  }

  @Test func `a call is awaited, and the operation that calls it is told of alone`() async {
    await listening {
      let events = Log<UseCaseEvent>()
      let inner = AnyUseCase<Int, Int>(queue: UseCaseQueue(observer: events.append)) { _ in
        throw Refused()
      }
      let outer = AnyUseCase<Int, Int> { number in try await inner(number) }
      let operation = outer.execute(1)
      await heard(operation)
      for _ in 0..<500 { await #expect(throws: Refused.self) { try await inner(2) } }
      await settle()
      #expect(events.elements.filter { told.value[$0.id] != nil }.isEmpty)
      #expect(count(operation) == 1)
    }
  }

  @Test func `a timeout that nobody hears is told when its body has returned`() async throws {
    try await listening {
      let clock = ManualClock()
      let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(5))
      let operation = held.execute(1)
      try await clock.sleeping()
      await clock.advance(by: .seconds(5))
      while operation.state != .finished { await settle() }
      await settle()
      #expect(count(operation) == 0)
      held.open(1)
      await heard(operation)
      #expect(told.value[operation.id]?.first?.error is UseCaseTimeout)
    }
  }

  @Test func `a cancelled operation has not failed, whatever its body throws`() async {
    await listening {
      let gate = Gate()
      let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(.keepLatest)) { _ in
        await gate.passIgnoringCancellation()
        throw Refused()
      }
      let operations = (1...3).map { useCase.execute($0) }
      operations[0].cancel()
      operations[2].cancel()
      gate.open()
      for operation in operations { await silentEnd(of: operation) }
      let thrown = AnyUseCase<Int, Int> { _ in throw CancellationError() }.execute(1)
      await silentEnd(of: thrown)
      await settle()
      #expect((operations + [thrown]).map(count) == [0, 0, 0, 0])
    }
  }

  @Test @MainActor func `a failure whose catch was silenced by cancel is not told`() async {
    await listening {
      for _ in 0..<100 {
        let operation = heldBack { $0.execute(1).catch { [log] _ in log.append("catch") } }
        holdThread { operation.state == .finished }
        operation.cancel()
        await silentEnd(of: operation)
        #expect(count(operation) == 0)
      }
      await settle()
      #expect(log.count == 0)
    }
  }

  @Test(.holds("A catch counts at once")) @MainActor
  func `a catch that waits for a busy main actor counts`() async {
    await listening {
      var operations: [Operation] = []
      for _ in 0..<500 {
        operations.append(heldBack { $0.execute(1).catch { [log] _ in log.append("catch") } })
      }
      // None of the handlers has run yet.
      holdThread { operations.allSatisfy { $0.state == .finished } }
      for _ in 1...500 { yieldThread() }
      for operation in operations { await operation.ended() }
      await settle()
      #expect(operations.filter { count($0) > 0 }.isEmpty)
      #expect(log.count == 500)
    }
  }

  @Test func `a catch attached when the failure has been told runs, and it is told no more`() async
  {
    await listening {
      let operation = failing.execute(1)
      await heard(operation)
      operation.catch { [log] _ in log.append("catch") }
      await log.elements(atLeast: 1)
      await silentEnd(of: operation)
      await settle()
      #expect(count(operation) == 1)
    }
  }

  @Test func `nothing is told without a hook, and not later`() async {
    let operation = failing.execute(1)
    await silentEnd(of: operation)
    await listening {
      await settle()
      #expect(count(operation) == 0)
    }
    #expect(UseCaseQueue.unhandledFailure == nil)
  }

  @Test(.holds("Where unhandledFailure runs")) @MainActor
  func `the hook is called on no actor, and may do anything`() async {
    let (queue, places, told) = (UseCaseQueue(.serial), Log<Bool>(), Gate())
    let useCase = AnyUseCase<Int, Int>(queue: queue) { _ in throw Refused() }
    let ids = Watched<UseCaseOperationID?>(nil)
    UseCaseQueue.unhandledFailure = { failure in
      guard failure.id == ids.value else { return }
      places.append(isOnMainActor())
      UseCaseQueue.unhandledFailure = nil
      queue.suspend()
      queue.resume()
      useCase.execute(2).catch { _ in told.open() }
    }
    let gate = Gate()
    let first = AnyUseCase<Int, Int> { _ in
      await gate.passIgnoringCancellation()
      throw Refused()
    }.execute(1)
    ids.update { $0 = first.id }
    gate.open()
    await told.passIgnoringCancellation()
    #expect(places.elements == [false])
  }

  @Test(.holds("Unhandled failures"))
  func `a failure is told when its operation has ended`() async {
    let events = Log<UseCaseEvent.Kind>()
    let queue = UseCaseQueue { events.append($0.kind) }
    let useCase = AnyUseCase<Int, Int>(queue: queue) { _ in throw Refused() }
    let (seen, id) = (Log<[UseCaseEvent.Kind]>(), Watched<UseCaseOperationID?>(nil))
    UseCaseQueue.unhandledFailure = { failure in
      if failure.type == AnyUseCase<Int, Int>.self, failure.id == id.value {
        seen.append(events.elements)
      }
    }
    defer { UseCaseQueue.unhandledFailure = nil }
    queue.suspend()
    let operation = useCase.execute(1)
    id.update { $0 = operation.id }
    queue.resume()
    #expect(await seen.elements(atLeast: 1) == [[.waiting, .running, .failed, .ended]])
  }

  @Test func `a failure that is told leaves nothing behind`() async {
    let lifetime = Lifetime()
    await listening {
      let operation = failing.execute(1).then { [token = lifetime.track()] _ in _ = token }
      await heard(operation)
      await lifetime.over()
    }
    #expect(lifetime.alive == 0)
  }
}
