import TestSupport
import Testing
import UseCase

@Suite(.serialized, .mustEnd)
struct RaceTests {
  /// How often the handlers of one operation have run.
  private struct Calls: Equatable {
    var then = 0
    var `catch` = 0
    var onCancel = 0
    var finally = 0
  }

  private struct Odd: Error {}

  @Test(.holds("One outcome"))
  func `in races of cancel and completion one wins, for everybody`() async {
    let queue = UseCaseQueue(.limit(4))
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      for _ in 0..<number % 3 { await Task.yield() }
      guard number.isMultiple(of: 2) else { throw Odd() }
      return number
    }
    let (succeeded, failed, cancelled) = (Watched(0), Watched(0), Watched(0))
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<tries("RACES", or: 3_000) {
            let calls = Watched(Calls())
            let operation = useCase.execute(round)
              .then { _ in calls.update { $0.then += 1 } }
              .catch { _ in calls.update { $0.catch += 1 } }
              .onCancel { _ in calls.update { $0.onCancel += 1 } }
              .finally { calls.update { $0.finally += 1 } }
            async let value = try? operation.value
            for _ in 0..<(round + worker) % 5 { await Task.yield() }
            operation.cancel()
            let response = await value
            let outcome = await operation.ended()
            let ran = calls.value
            #expect(ran.finally == 1)
            #expect(ran.then + ran.catch + ran.onCancel == 1)
            switch outcome {
            case .success(let number):
              #expect(response == number && ran.catch == 0)
              succeeded.update { $0 += 1 }
            case .failure:
              #expect(response == nil && ran.then == 0)
              failed.update { $0 += 1 }
            case .cancelled:
              #expect(response == nil && ran.onCancel == 1)
              cancelled.update { $0 += 1 }
            }
          }
        }
      }
    }
    #expect(queue.activity.succeeded == succeeded.value)
    #expect(queue.activity.failed == failed.value)
    #expect(queue.activity.cancelled == cancelled.value)
    #expect(queue.activity.executed == 8 * tries("RACES", or: 3_000))
    #expect(queue.activity.isIdle)
  }

  @Test(
    .holds("The limit"),
    arguments: [
      UseCaseQueue.Policy.unlimited, .serial, .limit(3), .cancelPrevious,
      .init(limit: 3, whenBusy: .cancelPrevious), .cancelPreviousAndWait,
      .init(limit: 3, whenBusy: .cancelPreviousAndWait), .dropWhileBusy,
      .init(limit: 3, whenBusy: .drop), .keepLatest, .init(limit: 3, whenBusy: .keepLatest),
      .cancelPrevious(debounce: .zero), .throttle(.microseconds(50)), .limit(3, waiting: 5),
    ])
  func `a thousand executes from eight tasks keep the limit, and each ends once`(
    policy: UseCaseQueue.Policy
  ) async {
    let queue = UseCaseQueue(policy)
    let crowd = Crowd()
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      crowd.enter()
      defer { crowd.leave() }
      for _ in 0..<number % 4 { await Task.yield() }
      if number % 7 == 0 { throw Refused() }
      return number
    }
    let ends = Log<String>()
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          let operations = (0..<125).map { number in
            useCase.execute(worker * 125 + number)
              .then { ends.append("then \($0)") }
              .catch { [id = worker * 125 + number] _ in ends.append("catch \(id)") }
              .onCancel { [id = worker * 125 + number] _ in ends.append("onCancel \(id)") }
          }
          await allEnded(operations)
        }
      }
    }
    let limits: [UseCaseQueue.Policy: Int] = [
      .serial: 1, .limit(3): 3, .cancelPreviousAndWait: 1,
      .init(limit: 3, whenBusy: .cancelPreviousAndWait): 3, .dropWhileBusy: 1,
      .init(limit: 3, whenBusy: .drop): 3, .keepLatest: 1,
      .init(limit: 3, whenBusy: .keepLatest): 3, .throttle(.microseconds(50)): 1,
      .limit(3, waiting: 5): 3,
    ]
    #expect(crowd.peak <= limits[policy, default: .max])
    #expect(crowd.now == 0)
    #expect(ends.count == 1_000)
    let activity = queue.activity
    #expect(activity.isIdle)
    #expect(activity.executed == 1_000)
    let sums = ["then", "catch", "onCancel"].map { name in
      ends.elements.count { $0.hasPrefix(name) }
    }
    #expect([activity.succeeded, activity.failed, activity.cancelled] == sums)
    #expect(Set(ends.elements.map { $0.split(separator: " ")[1] }).count == 1_000)
  }

  @Test func `in races of suspend, resume and cancelAll nothing is lost`() async {
    for policy in [
      UseCaseQueue.Policy.serial, .limit(3), .limit(3, waiting: 5), .keepLatest,
      .throttle(.microseconds(50)), .cancelPreviousAndWait,
    ] {
      let queue = UseCaseQueue(policy)
      let useCase = AnyUseCase(queue: queue) { (number: Int) in
        if number.isMultiple(of: 2) { await Task.yield() }
      }
      await withTaskGroup { group in
        for worker in 0..<6 {
          group.addTask {
            let operations = (0..<200).map { number in
              if worker == 0, number.isMultiple(of: 3) { queue.suspend() }
              if worker == 1 || number.isMultiple(of: 5) { queue.resume() }
              if worker == 2, number.isMultiple(of: 7) { queue.cancelAll() }
              return useCase.execute(number)
            }
            queue.resume()
            await withTaskGroup { group in
              // Somebody else may have suspended the queue after this task has resumed it.
              group.addTask { await allEnded(operations) }
              while queue.activity.executed < 1_200 {
                queue.resume()
                await Task.yield()
              }
            }
          }
        }
      }
      await queue.idle()
      #expect(queue.activity.executed == 1_200)
    }
  }

  @Test func `in races of the end and of tasks that wait for it, all of them go on`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in number }
    for round in 0..<tries("RACES", or: 2_000) {
      let operation = useCase.execute(round)
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { #expect((try? await operation.value) == round) } }
        group.addTask { #expect((try? await operation.ended().get()) == round) }
        group.addTask {
          let waiter = Task { try await operation.value }
          waiter.cancel()
          _ = await waiter.result
        }
      }
    }
  }

  @Test(.holds("Events in time"))
  func `in races of cancel and completion cancel is heard before it returns`() async {
    let heard = Watched(Set<UseCaseOperationID>())
    let queue = UseCaseQueue { event in
      if case .cancelled = event.kind { heard.update { _ = $0.insert(event.id) } }
    }
    for round in 0..<tries("RACES", or: 10_000) {
      let isRunning = Watched(false)
      let operation = AnyUseCase(queue: queue) { (_: Int) in
        isRunning.update { $0 = true }
        for _ in 0..<round % 100 { _ = isRunning.value }
      }.execute(round)
      while !isRunning.value { await Task.yield() }
      operation.cancel()
      if case .cancelled? = operation.outcome { #expect(heard.value.contains(operation.id)) }
      await operation.ended()
    }
  }

  @Test func `a body that is cancelled as soon as it begins sees its cancellation`() async {
    let queue = UseCaseQueue()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in
      queue.cancelAll()
      try await Gate().pass()
    }
    let count = tries("RACES", or: 5_000)
    for round in 0..<count { await useCase.execute(round).ended() }
    #expect(queue.activity.cancelled == count)
  }
}
