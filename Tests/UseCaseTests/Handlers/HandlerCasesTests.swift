import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct HandlerCasesTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }
  private let refuse = AnyUseCase { (_: Int) -> Int in throw Refused() }

  actor Desk {
    private(set) var notes: [String] = []

    func attach(to operation: Operation) {
      operation.finally {
        self.preconditionIsolated()
        self.notes.append("finally")
      }
    }
  }

  @Test func `finally runs on the actor in which it was written`() async {
    let desk = Desk()
    let held = Held()
    let operation = held.execute(1)
    await desk.attach(to: operation)
    held.open(1)
    await operation.ended()
    #expect(await desk.notes == ["finally"])
  }

  @Test(.holds("Isolation of handlers")) @MainActor
  func `handlers written on the main actor run there, and the operation is finished`() async {
    var notes: [String] = []
    let operation = double.execute(21)
    operation.then { [operation] response in
      notes.append("then \(response) \(operation.state) \(isOnMainActor())")
    }
    operation.finally { notes.append("finally \(isOnMainActor())") }
    await operation.ended()
    #expect(notes == ["then 42 finished true", "finally true"])
  }

  @Test @MainActor
  func `a body on no actor hands its response to a handler on the main actor`() async {
    let bodies = Log<Bool>()
    let useCase = AnyUseCase { (_: Int) in bodies.append(isOnMainActor()) }
    await useCase.execute(1).then { [log] in log.append("\(isOnMainActor())") }.ended()
    #expect(bodies.elements == [false])
    #expect(log.elements == ["true"])
  }

  @Test func `then, catch and common do not run when the body of a cancelled operation returns`()
    async
  {
    let held = Held()
    let operation = held.execute(1).record(in: log)
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    held.open(1)
    await operation.ended()
    #expect(held.returned.elements == [1])
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test func `a closure is a use case, and its then is called`() async {
    await AnyUseCase { (name: String) in "hello \(name)" }.execute("harry")
      .then { [log] in log.append($0) }
      .ended()
    #expect(log.elements == ["hello harry"])
  }

  @Test func `then gets the very response of the body`() async throws {
    let lifetime = Lifetime()
    let response = lifetime.track()
    let received = Log<Lifetime.Token>()
    await AnyUseCase { (_: Int) in response }.execute(1).then { received.append($0) }.ended()
    let first = try #require(received.elements.first)
    #expect(first === response)
  }

  @Test(.holds("Attached late")) @MainActor
  func `a handler attached after the end does not run inside the call that attaches it`() async {
    let operation = double.execute(1)
    await operation.ended()
    operation.then { [log] _ in log.append("then") }
    #expect(log.elements.isEmpty)
    await operation.ended()
    #expect(log.elements == ["then"])
  }

  @Test func `the request is still there to be read when catch runs`() async {
    let refuse = AnyUseCase { (_: String) -> Int in throw Refused() }
    let operation = refuse.execute("harry")
    operation.catch { [log, operation] _ in log.append(operation.request) }
    await operation.ended()
    #expect(log.elements == ["harry"])
  }

  @Test(.holds("Which handler runs"))
  func `catch and common run for a body that throws, then does not`() async {
    await refuse.execute(1).record(in: log).ended()
    #expect(log.elements == ["catch Refused(reason: \"no\")", "common", "finally"])
  }

  @Test func `the general catch runs when no typed catch fits`() async {
    await refuse.execute(1)
      .catch(Offline.self) { [log] _ in log.append("offline") }
      .catch { [log] _ in log.append("general") }
      .ended()
    #expect(log.elements == ["general"])
  }

  @Test func `a fitting catch gets the error typed, and the general catch runs too`() async {
    let offline = AnyUseCase { (_: Int) -> Int in throw Offline() }
    await offline.execute(1)
      .catch(Offline.self) { [log] (error: Offline) in log.append("\(error)") }
      .catch { [log] _ in log.append("general") }
      .ended()
    #expect(log.elements == ["Offline()", "general"])
  }

  @Test func `no update, then or common runs after a cancellation at a gate`() async {
    let counting = Counting(on: UseCaseQueue())
    let operation = counting.execute(3) { [log] in log.append("update \($0)") }.record(in: log)
    await counting.waiting.passIgnoringCancellation()
    operation.cancel()
    counting.gate.open()
    await operation.ended()
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test func `cancelAll lets none of three call then, and each call onCancel and finally`() async {
    let held = Held()
    let operations = held.executeFirst(3)
    for operation in operations { _ = operation.record(in: log) }
    held.queue.cancelAll()
    held.open(1...3)
    await allEnded(operations)
    #expect(
      log.elements.sorted() == [
        "finally", "finally", "finally",
        "onCancel requested", "onCancel requested", "onCancel requested",
      ])
  }
}
