import TestSupport
import Testing
import UseCase
import UseCaseTesting

private struct Refused: Error {}

@Suite(.mustEnd)
struct ControlledReportingUseCaseTests {
  private let queue = UseCaseQueue(.serial)
  private let useCase: ControlledReportingUseCase<Int, String, Double>

  init() {
    useCase = ControlledReportingUseCase(queue: queue)
  }

  @Test func `a call has the request, reports updates in order, and is answered`() async throws {
    let updates = Log<Double>()
    let operation = useCase.execute(7) { updates.append($0) }
    let call = try await useCase.next()
    #expect(call.request == 7)
    #expect(queue.activity.running == 1)
    for update in [0.25, 0.5, 1] { call.report(update) }
    #expect(await updates.elements(atLeast: 3) == [0.25, 0.5, 1])
    call.succeed("seven")
    #expect(try await operation.value == "seven")
  }

  @Test func `the first of several answers counts`() async throws {
    let operation = useCase.execute(1)
    let call = try await useCase.next()
    call.fail(Refused())
    call.succeed("late")
    await #expect(throws: Refused.self) { try await operation.value }
  }

  @Test func `an update after the answer is dropped`() async throws {
    let updates = Log<Double>()
    let operation = useCase.execute(1) { updates.append($0) }
    let call = try await useCase.next()
    call.succeed("one")
    await operation.ended()
    call.report(1)
    await queue.idle()
    #expect(updates.count == 0)
  }

  @Test func `an execution without a receiver reports to nobody`() async throws {
    let operation = useCase.execute(1)
    let call = try await useCase.next()
    call.report(1)
    call.succeed("one")
    #expect(try await operation.value == "one")
  }

  @Test func `a cancelled call that has no answer throws CancellationError`() async throws {
    let operation = useCase.execute(1) { _ in }
    let call = try await useCase.next()
    #expect(!call.isCancelled)
    operation.cancel()
    try await call.cancelled()
    #expect(call.isCancelled)
    await #expect(throws: CancellationError.self) { try await operation.value }
  }

  @Test func `both waits end when their task is cancelled`() async throws {
    let useCase = useCase
    let reader = Task { try await useCase.next() }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }

    let operation = useCase.execute(1)
    let call = try await useCase.next()
    let watcher = Task { try await call.cancelled() }
    watcher.cancel()
    await #expect(throws: CancellationError.self) { try await watcher.value }
    call.succeed("one")
    await operation.ended()
  }

  @Test @MainActor func `a model shows the update that a test reports`() async throws {
    let model = ReportingUseCaseModel(useCase)
    let operation = model.execute(1)
    let call = try await useCase.next()
    call.report(0.5)
    while model.update == nil { await Task.yield() }
    #expect(model.update == 0.5)
    call.succeed("one")
    await operation.ended()
    #expect(model.value == "one")
  }
}
