import TestSupport
import Testing

@Suite(.mustEnd)
struct TestSupportTests {
  @Test func `a gate holds a cancelled task that ignores its cancellation`() async {
    let (entered, gate, log) = (Gate(), Gate(), Log<Bool>())
    let task = Task {
      entered.open()
      await gate.passIgnoringCancellation()
      log.append(Task.isCancelled)
    }
    await entered.passIgnoringCancellation()
    task.cancel()
    #expect(log.count == 0)
    gate.open()
    await task.value
    #expect(log.elements == [true])
  }

  @Test func `a wait for a value and its cancellation race, and the wait always ends`() async {
    for _ in 1...2_000 {
      let isThere = Watched(false)
      let task = Task { try await isThere.waitUnlessCancelled { $0 } }
      async let changed: Void = isThere.update { $0 = true }
      task.cancel()
      await changed
      _ = await task.result
    }
  }

  @Test func `a log wakes its reader at the count asked for`() async {
    let log = Log<Int>()
    let reader = Task { await log.elements(atLeast: 3) }
    for number in 1...3 { log.append(number) }
    #expect(await reader.value == [1, 2, 3])
    #expect(await log.elements(atLeast: 2) == [1, 2, 3])
  }

  @Test func `a log loses nothing that eight threads write`() async {
    let log = Log<Int>()
    await withTaskGroup { group in
      for writer in 0..<8 {
        group.addTask { for number in 0..<250 { log.append(writer * 250 + number) } }
      }
    }
    #expect(log.elements.sorted() == Array(0..<2_000))
  }

  @Test func `a lifetime counts what is alive`() async {
    let (lifetime, log) = (Lifetime(), Log<Int>())
    var token: Lifetime.Token? = lifetime.track { log.append(1) }
    let other = lifetime.track()
    #expect(lifetime.alive == 2)
    withExtendedLifetime(token) {}
    token = nil
    #expect(lifetime.alive == 1)
    #expect(log.elements == [1])
    let over = Task { await lifetime.over() }
    withExtendedLifetime(other) {}
    _ = consume other
    await over.value
    #expect(lifetime.alive == 0)
  }

  #if os(Linux) || os(macOS)
    @Test func `a test that hangs stops the run with its name, a test that ends does not`()
      async throws
    {
      try await stopUnlessItEnds("quick", within: .seconds(60)) {}
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try await stopUnlessItEnds("slow", within: .milliseconds(1)) {
          await Gate().passIgnoringCancellation()
        }
      }
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("“slow” hangs"))
    }
  #endif
}
