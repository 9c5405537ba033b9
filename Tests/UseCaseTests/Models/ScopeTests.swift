import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct ScopeTests {
  @Test(.holds("Scopes"))
  func `a scope cancels the operations that it holds when its last reference goes`() async {
    let held = Held(.limit(2))
    let log = Log<String>()
    var scope: UseCaseScope? = UseCaseScope()
    let operations = held.executeFirst(3).map { operation in
      if let scope { operation.store(in: scope) }
      return operation.record(in: log)
    }
    #expect(scope?.count == 3)
    let second = scope
    scope = nil
    #expect(fates(operations) == "RRW")
    _ = consume second
    #expect(fates(operations) == "EEE")
    held.open(1...3)
    await allEnded(operations)
    #expect(log.elements.filter { $0 == "onCancel scopeEnded" }.count == 3)
    #expect(log.elements.filter { $0 == "finally" }.count == 3)
    #expect(log.count == 6)
  }

  @Test(.holds("Scopes"))
  func `a scope forgets each operation that ends`() async {
    let (held, scope) = (Held(), UseCaseScope())
    let operations = held.executeFirst(3).map { $0.store(in: scope) }
    for left in [2, 1, 0] {
      held.open(3 - left)
      await operations[2 - left].ended()
      #expect(scope.count == left)
    }
    #expect(fates(operations) == "+++")
  }

  @Test func `a scope does not keep an operation that has ended`() async {
    let (held, scope) = (Held(), UseCaseScope())
    held.open(1)
    let operation = held.execute(1)
    await operation.ended()
    operation.store(in: scope)
    #expect(scope.count == 0)
  }

  @Test func `cancelAll of a scope is a request, and leaves the scope usable`() async {
    let (held, scope) = (Held(), UseCaseScope())
    let first = held.execute(1).store(in: scope)
    let outside = held.execute(2)
    scope.cancelAll()
    let second = held.execute(3).store(in: scope)
    #expect(fates([first, outside, second]) == "CRR")
    held.open(1...3)
    await allEnded([first, outside, second])
    #expect(scope.count == 0)
  }

  @Test func `storing twice counts once`() async {
    let (held, scope) = (Held(), UseCaseScope())
    let operation = held.execute(1).store(in: scope).store(in: scope)
    #expect(scope.count == 1)
    held.open(1)
    await operation.ended()
    #expect(scope.count == 0)
  }

  @Test func `the first of two scopes that goes away cancels`() async {
    let (held, stays) = (Held(), UseCaseScope())
    let operation = held.execute(1).store(in: stays)
    do {
      let goes = UseCaseScope()
      operation.store(in: goes)
    }
    #expect(operation.cancellation == .scopeEnded)
    held.open(1)
    await operation.ended()
    #expect(stays.count == 0)
  }

  @Test func `a scope may go away in a handler of an operation that it holds`() async {
    let held = Held()
    let scope = Watched<UseCaseScope?>(UseCaseScope())
    let operations = held.executeFirst(2)
    for operation in operations { if let scope = scope.value { operation.store(in: scope) } }
    operations[0].then { _ in _ = scope.update { $0.take() } }
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+E")
    held.open(2)
    await allEnded(operations)
  }

  @Test func `a scope lets go of the objects of an operation that has ended`() async {
    let (lifetime, gate, scope) = (Lifetime(), Gate(), UseCaseScope())
    do {
      let useCase = AnyUseCase { (_: Lifetime.Token) in await gate.passIgnoringCancellation() }
      let operation = useCase.execute(lifetime.track()).store(in: scope)
      gate.open()
      await operation.ended()
    }
    await lifetime.over()
    #expect(scope.count == 0)
  }

  @Test func `a scope of a hundred thousand goes away at once`() async {
    let held = Held(.serial)
    held.queue.suspend()
    var operations: [Operation] = []
    do {
      let scope = UseCaseScope()
      operations = (1...100_000).map { held.execute($0).store(in: scope) }
      #expect(scope.count == 100_000)
    }
    #expect(operations.allSatisfy { $0.cancellation == .scopeEnded })
    #expect(held.queue.activity.isIdle)
    await allEnded(operations)
  }
}
