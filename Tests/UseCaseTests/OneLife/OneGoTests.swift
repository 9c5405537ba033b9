import Observation
import TestSupport
import Testing
import UseCase

/// The last handler, the release of the slot and the end of `isRunning` are one go.
@Suite(.mustEnd)
struct OneGoTests {
  @Test func `the job after the last handler finds the slot free`() async {
    for round in 1...200 {
      let (held, desk) = (Held(.dropWhileBusy), Desk())
      let next = Log<Operation>()
      let operation = held.execute(1)
      await desk.record(operation)
      desk.executor.hold()
      held.open(1...2)
      await desk.executor.jobs(atLeast: 1)
      #expect(held.queue.activity.running == 1 && desk.log.count == 0)
      // It stands behind the handlers.
      let tap = Task { await desk.act("tap") { next.append(held.execute(2)) } }
      await desk.executor.jobs(atLeast: 2)
      while desk.log.count == 0 { await desk.executor.step() }
      #expect(desk.log.elements == ["then 1", "common", "finally"])
      #expect(held.queue.activity.succeeded == 1 && !held.queue.isBusy)
      while next.count == 0 { await desk.executor.step() }
      #expect(next.elements[0].fate != "D", "round \(round)")
      desk.executor.release()
      await tap.value
      await allEnded([operation] + next.elements)
    }
  }

  @Test func `the next one in the line has the slot when the last handler returns`() async {
    let (held, desk) = (Held(.serial), Desk())
    let operations = held.executeFirst(2)
    await desk.record(operations[0])
    desk.executor.hold()
    held.open(1)
    await desk.executor.jobs(atLeast: 1)
    #expect(fates(operations) == "+W")
    while desk.log.count == 0 { await desk.executor.step() }
    #expect(fates(operations) == "+R")
    desk.executor.release()
    held.open(2)
    await allEnded(operations)
  }

  @Test(arguments: [UseCaseQueue.Policy.dropWhileBusy, .serial, .unlimited, .cancelPrevious])
  @MainActor
  func `no other job of the main actor sees one handler without the others`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    for number in 1...500 {
      var ran = ""
      let operation = held.execute(number)
        .then { _ in ran += "t" }.common { ran += "c" }.then { _ in ran += "t" }
        .finally { ran += "f" }.finally { _ in ran += "f" }
      held.open(number)
      while true {
        let isBusy = held.queue.isBusy
        #expect(ran == (isBusy ? "" : "tctff"))
        guard isBusy, ran.isEmpty else { break }
        await Task.yield()
      }
      await operation.ended()
    }
  }

  private struct Broken: Error, Equatable { let number: Int }

  /// Waits until its handlers are attached; what is odd fails.
  private struct Search: UseCase {
    let queue = UseCaseQueue(.dropWhileBusy)
    let gates = Watched<[Int: Gate]>([:])

    func main(_ number: Int) async throws -> Int {
      await gates.update { $0[number] }?.passIgnoringCancellation()
      guard number.isMultiple(of: 2) else { throw Broken(number: number) }
      return number
    }
  }

  @Test @MainActor
  func `the model, its handlers and yours are one go of the main actor`() async {
    let search = Search()
    let model = UseCaseModel(search)
    var shown: Int?
    var broken: Int?
    for number in 1...tries("RACES", or: 1_000) {
      let gate = Gate()
      search.gates.update { $0[number] = gate }
      let operation = model.execute(number)
        .then { response in
          // The model is ahead, and over for its own handlers.
          #expect(model.value == response && !model.isRunning)
          shown = response
        }
        .catch(Broken.self) { error in
          #expect((model.error as? Broken) == error && !model.isRunning)
          broken = error.number
        }
      #expect(operation.fate != "D")
      gate.open()
      while true {
        let isRunning = model.isRunning
        #expect(model.value == shown)
        #expect(isRunning == search.queue.isBusy)
        if !isRunning { break }
        #expect(shown != number && broken != number)
        await Task.yield()
      }
      #expect(shown == number || broken == number)
      #expect(number.isMultiple(of: 2) || (model.error as? Broken) == Broken(number: number))
    }
  }

  /// It attaches before the body begins.
  @Test @MainActor func `a model is ahead of a handler also if the body answers at once`() async {
    let model = UseCaseModel(AnyUseCase(queue: UseCaseQueue()) { (number: Int) in number })
    for number in 1...tries("RACES", or: 1_000) {
      let operation = model.execute(number).then { #expect(model.value == $0) }
      for _ in 0..<number % 3 { await Task.yield() }
      await operation.ended()
    }
  }

  /// A view that reads the model again as the next job after a change.
  @MainActor private final class View {
    private let model: UseCaseModel<Held>
    private(set) var seen: Set<String> = []

    init(_ model: UseCaseModel<Held>) { self.model = model }

    func look() {
      withObservationTracking {
        _ = (model.value, model.isRunning, model.error)
      } onChange: {
        Task { @MainActor in self.lookAgain() }
      }
    }

    private func lookAgain() {
      let (value, isBusy) = (model.value.map { "\($0)" } ?? "-", model.useCase.queue.isBusy)
      seen.insert("\(value) \(model.isRunning) \(isBusy)")
      look()
    }
  }

  @Test @MainActor func `a view that reads the model after a change sees all of it`() async {
    let held = Held(.dropWhileBusy)
    for number in 1...200 {
      let model = UseCaseModel(held)
      let view = View(model)
      let operation = model.execute(number)
      view.look()
      held.open(number)
      await operation.ended()
      #expect(await isReached { !view.seen.isEmpty })
      #expect(view.seen == ["\(number) false false"])
    }
  }

  @Test @MainActor
  func `a model runs as long as a handler of the outcome has not run elsewhere`() async {
    let (held, desk) = (Held(), Desk())
    let model = UseCaseModel(held)
    for number in 1...50 {
      desk.executor.hold()
      let operation = model.execute(number)
      let attached = Task { await desk.attachThen(to: operation) { _ in } }
      await desk.executor.jobs(atLeast: 1)
      await desk.executor.step()
      await attached.value
      held.open(number)
      await desk.executor.jobs(atLeast: 1)
      // The value is there, and the handler of the desk is not.
      #expect(await isReached { model.value == number })
      #expect(model.isRunning && desk.log.count == number - 1)
      desk.executor.release()
      await operation.ended()
      #expect(desk.log.count == number)
      #expect(await isReached { !model.isRunning })
    }
  }

  @Test @MainActor
  func `a model waits for no body of a cancelled operation, nor for its finally`() async {
    let held = Held()
    let model = UseCaseModel(held)
    var ended = 0
    let operation = model.execute(1).finally { ended += 1 }
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    #expect(await isReached { !model.isRunning })
    #expect(ended == 0 && held.queue.isBusy)
    held.open(1)
    await operation.ended()
    #expect(ended == 1)
  }

  @Test @MainActor
  func `a model waits for no body of a superseded operation`() async {
    let held = Held(.cancelPrevious)
    let model = UseCaseModel(held)
    let old = model.execute(1)
    await held.begun.elements(atLeast: 1)
    let new = model.execute(2)
    held.open(2)
    await new.ended()
    #expect(await isReached { !model.isRunning })
    #expect(model.value == 2 && held.queue.isBusy)
    held.open(1)
    await old.ended()
  }

  @Test @MainActor
  func `a model waits for no body of an operation that has timed out`() async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(1))
    let model = UseCaseModel(held)
    var (caught, ended) = (false, false)
    let operation = model.execute(1)
      .catch { _ in
        caught = true
        #expect(model.error is UseCaseTimeout)
      }
      .finally { ended = true }
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    while true {
      #expect(model.isRunning != caught)
      if caught { break }
      await Task.yield()
    }
    #expect(!model.isRunning && !ended && held.queue.isBusy)
    held.open(1)
    await operation.ended()
    #expect(ended)
  }

  @Test @MainActor
  func `cancel of a model makes it idle before it returns, also when the answer is there`() async {
    let held = Held()
    let model = UseCaseModel(held)
    for number in 1...200 {
      let operation = model.execute(number).then { _ in #expect(Bool(false), "silenced") }
      held.open(number)
      #expect(comes { operation.state == .finished })
      #expect(model.isRunning)
      model.cancel()
      #expect(!model.isRunning)
      await operation.ended()
      #expect(model.value == nil)
    }
  }

  @Test @MainActor
  func `a reporting model, its handlers and yours are one go of the main actor`() async {
    let counting = Counting(on: UseCaseQueue(.dropWhileBusy))
    let model = ReportingUseCaseModel(counting)
    var shown: Int?
    let operation = model.execute(3).then { shown = $0 }
    counting.gate.open()
    while true {
      #expect(model.value == shown)
      #expect(model.isRunning == counting.queue.isBusy)
      if !model.isRunning { break }
      await Task.yield()
    }
    #expect(shown == 3)
    await operation.ended()
  }
}
