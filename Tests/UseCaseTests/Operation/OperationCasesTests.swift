import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct OperationCasesTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }
  private let refuse = AnyUseCase { (_: Int) -> Int in throw Refused() }

  @Test func `a response reaches then and not catch`() async {
    await double.execute(21)
      .then { [log] in log.append("then \($0)") }
      .catch { [log] _ in log.append("catch") }
      .ended()
    #expect(log.elements == ["then 42"])
  }

  @Test func `an error reaches catch and not then`() async {
    await refuse.execute(1)
      .then { [log] _ in log.append("then") }
      .catch { [log] in log.append("catch \($0 as? Refused == Refused())") }
      .ended()
    #expect(log.elements == ["catch true"])
  }

  @Test func `common has run when a then attached after it runs`() async {
    await double.execute(1)
      .common { [log] in log.append("common") }
      .then { [log] _ in log.append("then") }
      .ended()
    #expect(log.elements == ["common", "then"])
  }

  @Test func `common has run when a catch attached after it runs`() async {
    await refuse.execute(1)
      .common { [log] in log.append("common") }
      .catch { [log] _ in log.append("catch") }
      .ended()
    #expect(log.elements == ["common", "catch"])
  }

  @Test func `all the others have run once when the last of many then runs`() async {
    await double.execute(1)
      .then { [log] _ in log.append("then 1") }
      .common { [log] in log.append("common 1") }
      .then { [log] _ in log.append("then 2") }
      .common { [log] in log.append("common 2") }
      .then { [log] _ in log.append("then 3 after \(log.elements.count)") }
      .ended()
    #expect(
      log.elements == ["then 1", "common 1", "then 2", "common 2", "then 3 after 4"])
  }

  @Test func `all the others have run once when the last of many catch runs`() async {
    await refuse.execute(1)
      .catch { [log] _ in log.append("catch 1") }
      .common { [log] in log.append("common 1") }
      .catch { [log] _ in log.append("catch 2") }
      .common { [log] in log.append("common 2") }
      .catch { [log] _ in log.append("catch 3 after \(log.elements.count)") }
      .ended()
    #expect(
      log.elements == ["catch 1", "common 1", "catch 2", "common 2", "catch 3 after 4"])
  }

  @Test func `the operation is finished and its queue idle inside then`() async {
    let held = Held(.serial)
    let operation = held.execute(1)
    operation.then { [log, operation] _ in
      log.append("\(operation.state) \(held.queue.activity.isIdle)")
    }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["finished true"])
  }

  @Test(.holds("Which handler runs"))
  func `none of then, catch and common runs after a cancellation right away`() async {
    let held = Held(.serial)
    let operation = held.execute(1)
      .common { [log] in log.append("common") }
      .then { [log] _ in log.append("then") }
      .catch { [log] _ in log.append("catch") }
    operation.cancel()
    held.open(1)
    await operation.ended()
    await held.queue.idle()
    #expect(log.elements.isEmpty)
    #expect(held.queue.activity.isIdle)
  }

  @Test func `handlers attached after the end run once each, like those before it`() async {
    let operation = double.execute(1)
    for number in 1...3 { operation.common { [log] in log.append("common \(number)") } }
    for number in 1...4 { operation.then { [log] _ in log.append("then \(number)") } }
    await operation.ended()
    operation.common { [log] in log.append("common 4") }
    operation.then { [log] _ in log.append("then 5") }
    await operation.ended()
    #expect(
      log.elements == [
        "common 1", "common 2", "common 3", "then 1", "then 2", "then 3", "then 4",
        "common 4", "then 5",
      ])
  }
}
