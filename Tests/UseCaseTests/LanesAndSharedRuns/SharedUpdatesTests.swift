import TestSupport
import Testing
import UseCase

/// The updates of a shared run, and of other wrapped use cases that report.
@Suite(.mustEnd)
struct SharedUpdatesTests {
  /// Reports the numbers that the test sends, until it ends.
  private struct Sending: ReportingUseCase {
    let queue = UseCaseQueue()
    let begun = Log<Int>()
    let report = Watched<(@Sendable (Int?) -> Void)?>(nil)
    let end = Gate()

    func main(_ request: Int, report: @escaping @Sendable (Int?) -> Void) async throws -> Int {
      self.report.update { $0 = report }
      begun.append(request)
      await end.passIgnoringCancellation()
      return request
    }

    func send(_ update: Int?) { report.value?(update) }
  }

  private let sending = Sending()

  private func begin(_ operation: Operation) async { await sending.begun.elements(atLeast: 1) }

  @Test(.holds("Updates for all"))
  func `every rider hears the updates of the run, from the newest before it came`() async {
    let shared = sending.shared()
    let logs = (0..<3).map { _ in Log<Int?>() }
    let first = shared.execute(1) { logs[0].append($0) }
    await begin(first)
    sending.send(1)
    sending.send(nil)
    let second = shared.execute(1) { logs[1].append($0) }
    sending.send(3)
    let third = shared.execute(1) { logs[2].append($0) }
    sending.end.open()
    await allEnded([first, second, third])
    #expect(logs[0].elements == [1, nil, 3])
    #expect(logs[1].elements == [nil, 3])
    #expect(logs[2].elements == [3])
    #expect(sending.begun.elements == [1])
  }

  @Test(.holds("Updates for all")) @MainActor
  func `riders with and without updates, and calls, share one run`() async throws {
    let (shared, log) = (sending.shared(), Log<Int?>())
    let plain = shared.execute(1)
    let reporting = shared.execute(1) { log.append($0) }
    let call = Task { try await shared(1) }
    while shared.queue(for: 1).activity.running < 3 { await Task.yield() }
    await begin(plain)
    sending.send(5)
    sending.end.open()
    try await #expect(call.value == 1)
    await allEnded([plain, reporting])
    #expect(log.elements == [5])
    #expect(sending.begun.elements == [1])
  }

  @Test func `a rider that asks for no updates keeps none of them`() async {
    let (lifetime, begun, reported, end) = (Lifetime(), Log<Int>(), Gate(), Gate())
    let useCase = AnyReportingUseCase<Int, Int, Lifetime.Token> { request, report in
      begun.append(request)
      await reported.passIgnoringCancellation()
      for _ in 0..<9 { report(lifetime.track()) }
      begun.append(request)
      await end.passIgnoringCancellation()
      return request
    }
    let shared = useCase.shared()
    let operation = shared.execute(1)
    await begun.elements(atLeast: 1)
    reported.open()
    await begun.elements(atLeast: 2)
    // The newest one is kept for a rider to come.
    await lifetime.alive(atMost: 1)
    end.open()
    await operation.ended()
    await lifetime.over()
  }

  @Test(.holds("Updates for all"))
  func `a rider that is cancelled hears no more, and the others do`() async {
    let (shared, left, stays) = (sending.shared(), Log<Int?>(), Log<Int?>())
    let operations = [
      shared.execute(1) { left.append($0) }, shared.execute(1) { stays.append($0) },
    ]
    await begin(operations[0])
    sending.send(1)
    await left.elements(atLeast: 1)
    operations[0].cancel()
    sending.send(2)
    sending.end.open()
    await allEnded(operations)
    #expect(left.elements == [1])
    #expect(stays.elements == [1, 2])
  }

  @Test(.holds("Updates for all"))
  func `updates come before the handlers of each rider, on its isolation`() async {
    let (shared, log) = (sending.shared(), Log<String>())
    let operation = await MainActor.run {
      shared.execute(1) { _ in log.append("update \(isOnMainActor())") }
        .then { _ in log.append("then") }
    }
    await begin(operation)
    for number in 1...3 { sending.send(number) }
    sending.end.open()
    await operation.ended()
    #expect(log.elements == ["update true", "update true", "update true", "then"])
  }

  @Test(.holds("Updates for all"))
  func `in a hundred races riders that come lose no update, and hear them in order`() async {
    for _ in 0..<100 {
      let useCase = AnyReportingUseCase<Int, Int, Int> { request, report in
        for number in 1...50 {
          report(number)
          if number.isMultiple(of: 10) { await Task.yield() }
        }
        return request
      }
      let shared = useCase.shared()
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            let log = Log<Int>()
            let operation = shared.execute(1) { log.append($0) }
            _ = try? await operation.value
            await operation.ended()
            let first = log.elements.first ?? 51
            #expect(log.elements == Array(first..<51))
          }
        }
      }
    }
  }

  @Test(.holds("Sharing again"))
  func `every wrapper, and any nesting of them, reports what its base reports`() async {
    func heard<Wrapper: ReportingUseCase<Int, Int, Int>>(from wrapper: Wrapper) async -> [Int] {
      let log = Log<Int>()
      await wrapper.execute(2) { log.append($0) }.ended()
      return log.elements
    }
    let counting = Counting(on: UseCaseQueue())
    counting.gate.open()
    await #expect(heard(from: AnyReportingUseCase(counting)) == [1, 2])
    await #expect(heard(from: counting.shared()) == [1, 2])
    await #expect(heard(from: AnyReportingUseCase(counting.shared())) == [1, 2])
    await #expect(heard(from: AnyReportingUseCase(counting).shared().shared()) == [1, 2])
    await #expect(
      heard(from: AnyReportingUseCase(AnyReportingUseCase(counting.shared()).shared())) == [1, 2])
  }

  @Test(.holds("Sharing again")) func `a client's wrapper hears the run that its body rides`() async
  {
    struct Wrapper: ReportingUseCase {
      let base: SharedUseCase<Sending>

      func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async throws -> Int {
        try await base.main(request) { report(($0 ?? 0) * 10) }
      }
    }
    let (shared, log, other) = (sending.shared(), Log<Int>(), Log<Int?>())
    let rider = shared.execute(3) { other.append($0) }
    await begin(rider)
    sending.send(1)
    let operation = Wrapper(base: shared).execute(3) { log.append($0) }
    await log.elements(atLeast: 1)
    sending.send(2)
    sending.end.open()
    await allEnded([rider, operation])
    #expect(log.elements == [10, 20] && other.elements == [1, 2])
    #expect(sending.begun.elements == [3])
  }

  @Test func `a shared use case is found to report where only its base is known`() async {
    func share<Base: UseCase>(_ base: Base) -> SharedUseCase<Base> where Base.Request: Hashable {
      base.shared()
    }
    let (counting, log) = (Counting(on: UseCaseQueue()), Log<Int>())
    counting.gate.open()
    await share(counting).execute(2) { log.append($0) }.ended()
    #expect(log.elements == [1, 2])
  }

  @Test(.holds("Updates for all")) @MainActor func `a model shows the updates of a shared run`()
    async
  {
    let shared = sending.shared()
    let (first, second) = (ReportingUseCaseModel(shared), ReportingUseCaseModel(shared))
    let operation = first.execute(1)
    await begin(operation)
    sending.send(1)
    let other = second.execute(1)
    while first.update == nil || second.update == nil { await Task.yield() }
    #expect(first.update == 1 && second.update == 1)
    sending.end.open()
    await allEnded([operation, other])
    #expect(first.value == 1 && second.value == 1)
  }

  @Test(.holds("No request")) func `a use case without a request that is shared reports, too`()
    async
  {
    let useCase = AnyReportingUseCase<Void, Int, Int> { _, report in
      report(1)
      return 2
    }
    let log = Log<Int>()
    await useCase.shared().execute { log.append($0) }.ended()
    #expect(log.elements == [1])
  }

  @Test(.holds("Nothing is left of a run"))
  func `nothing of an update is left when the riders have ended`() async {
    let lifetime = Lifetime()
    let gate = Gate()
    let useCase = AnyReportingUseCase<Int, Int, Lifetime.Token> { request, report in
      for _ in 0..<3 { report(lifetime.track()) }
      await gate.passIgnoringCancellation()
      return request
    }
    let shared = useCase.shared()
    let operations = [shared.execute(1) { _ in }, shared.execute(1)]
    gate.open()
    await allEnded(operations)
    await lifetime.over()
  }
}

@Suite(.mustEnd)
struct AnyReportingUseCaseTests {
  @Test func `a closure reports, on the queue and with the timeout that it was given`() async throws
  {
    let (queue, log) = (UseCaseQueue(.serial), Log<Int>())
    let useCase = AnyReportingUseCase<Int, String, Int>(queue: queue, timeout: .seconds(9)) {
      limit, report in
      for number in 1...limit { report(number) }
      return "done"
    }
    #expect(useCase.queue === queue && useCase.timeout == .seconds(9))
    let operation = useCase.execute(3) { log.append($0) }
    await operation.ended()
    #expect(log.elements == [1, 2, 3])
    try await #expect(operation.value == "done")
    try await #expect(useCase(1) == "done")
    #expect(log.count == 3)
  }

  @Test func `an erased use case counts as its base for reactions, with and without updates`() async
  {
    let (reactions, log) = (UseCaseReactions(), Log<Int>())
    let counting = Counting(on: UseCaseQueue(reactions: reactions))
    counting.gate.open()
    reactions.to(Counting.self) { log.append($0.request) }
    let erased = AnyReportingUseCase(AnyReportingUseCase(counting))
    await allEnded([erased.execute(1), erased.execute(2) { _ in }, erased.shared().execute(3)])
    #expect(log.elements == [1, 2, 3])
  }
}
