import Observation
import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct OptimisticValueTests {
  private struct Offline: Error {}

  @Test(
    .holds("Only its own change"),
    arguments: [UseCaseQueue.Policy.serial, .keepLatest], 2...4)
  func `a heart ends as the server has it, whichever of its taps the server refuses`(
    policy: UseCaseQueue.Policy, taps: Int
  ) async throws {
    for refused in 0..<1 << taps {
      let like = ControlledUseCase<Bool, Void>(queue: UseCaseQueue(policy))
      let heart = OptimisticValue(false)
      for tap in 1...taps {
        let isLiked = !heart.value
        heart.change(like.execute(isLiked)) { $0 = isLiked }
        #expect(heart.value == !tap.isMultiple(of: 2))
      }
      var stored = false
      // Under `keepLatest`, the last tap supersedes all but the first.
      for call in 0..<(policy == .serial ? taps : 2) {
        let write = try await like.next()
        if refused & 1 << call == 0 {
          stored = write.request
          write.succeed(())
        } else {
          write.fail(Offline())
        }
      }
      await like.queue.idle()
      #expect(heart.value == stored && heart.confirmed == stored && !heart.isPending)
    }
  }

  @Test(.holds("Only its own change"))
  func `a counter of five taps, the second of which is refused, counts four`() async throws {
    let add = ControlledUseCase<Int, Void>(queue: UseCaseQueue(.serial))
    let counter = OptimisticValue(0)
    for tap in 1...5 { counter.change(add.execute(tap)) { $0 += 1 } }
    #expect(counter.value == 5 && counter.confirmed == 0)
    for tap in 1...5 {
      let call = try await add.next()
      if tap == 2 { call.fail(Offline()) } else { call.succeed(()) }
    }
    await add.queue.idle()
    #expect(counter.value == 4 && counter.confirmed == 4)
  }

  @Test(.holds("Since a mark"), arguments: [true, false])
  func `a reload keeps what has succeeded since its mark, also what a push has had`(
    isRefused: Bool
  ) async throws {
    let add = ControlledUseCase<String, Void>(queue: UseCaseQueue())
    let rows = OptimisticValue(["tea"])
    let mark = rows.mark()
    let jam = rows.change(add.execute("jam")) { $0.append("jam") }
    let first = try await add.next()
    let milk = rows.change(add.execute("milk")) { $0.append("milk") }
    try await add.next().succeed(())
    try await milk.settled()

    rows.confirm(["tea", "milk"])  // a push
    #expect(rows.value == ["tea", "milk", "jam"])
    rows.confirm(["tea"], since: mark)  // a reload that began before both
    #expect(rows.value == ["tea", "jam", "milk"])
    if isRefused { first.fail(Offline()) } else { first.succeed(()) }
    try await jam.settled()
    #expect(rows.confirmed == (isRefused ? ["tea", "milk"] : ["tea", "jam", "milk"]))
  }

  @Test(.holds("Since a mark"))
  func `with a mark at each moment, successes before the oldest are let go`() async {
    let rows = OptimisticValue([String]())
    let write = AnyUseCase<String, Void> { _ in }
    let changes = Lifetime()
    var mark = rows.mark()
    for text in ["a", "b", "c", "d"] {
      mark = rows.mark()  // while the one before is there
      await rows.change(write.execute(text)) { [token = changes.track()] rows in
        withExtendedLifetime(token) { rows.append(text) }
      }.ended()
    }
    await changes.alive(atMost: 1)
    rows.confirm([], since: mark)
    #expect(rows.value == ["d"])
  }

  @Test(.holds("Equal values"))
  func `a view that reads only the value is not told when it has not changed`() async throws {
    let like = ControlledUseCase<Bool, Void>()
    let heart = OptimisticValue(false)
    heart.change(like.execute(true)) { $0 = true }
    let told = Watched(false)
    withObservationTracking {
      _ = heart.value
    } onChange: {
      told.update { $0 = true }
    }
    let again = heart.change(like.execute(true)) { $0 = true }
    let calls = [try await like.next(), try await like.next()]
    heart.confirm(true)
    for call in calls { call.request ? call.succeed(()) : call.fail(Offline()) }
    try await again.settled()
    while heart.isPending { await Task.yield() }
    #expect(heart.confirmed && !told.value)

    heart.confirm(false)
    #expect(told.value)
  }

  @Test(.holds("Before all handlers"))
  func `a handler finds the change settled, also one that came before the change`() async throws {
    let like = ControlledUseCase<Bool, Void>()
    let heart = OptimisticValue(false)
    let seen = Log<Bool>()
    let operation = like.execute(true)
      .catch { _ in seen.append(heart.value || heart.error == nil) }
      .finally { seen.append(heart.isPending) }
    heart.change(operation) { $0 = true }
    #expect(heart.value)
    try await like.next().fail(Offline())
    try await operation.settled()
    #expect(seen.elements == [false, false])
  }

  @Test(.holds("Refused at once", "Before all handlers"))
  func `a change whose operation is dropped is never shown`() async throws {
    let like = ControlledUseCase<Bool, Void>(queue: UseCaseQueue(.dropWhileBusy))
    let running = like.execute(true)
    let heart = OptimisticValue(false)
    heart.change(like.execute(true)) { $0 = true }
    #expect(!heart.value && !heart.isPending && !heart.isUncertain)
    try await like.next().succeed(())
    try await running.settled()
  }

  @Test(.holds("Confirmed and changes"))
  func `a change that has succeeded already is shown`() async throws {
    let heart = OptimisticValue(false)
    let like = AnyUseCase<Bool, Void> { _ in }.execute(true)
    await like.ended()
    heart.change(like) { $0 = true }
    #expect(heart.value && heart.confirmed && !heart.isPending)
  }

  @Test(.holds("Since a mark"), arguments: [true, false])
  func `what has succeeded before a mark or a confirm is known to the answer`(
    hasMark: Bool
  ) async {
    let counter = OptimisticValue(0)
    let add = AnyUseCase<Int, Void> { _ in }
    let operation = counter.change(add.execute(1)) { $0 += 1 }
    // The main actor is busy, so the handlers cannot have told.
    holdThread { operation.outcome != nil }
    let mark = hasMark ? counter.mark() : nil
    counter.confirm(1, since: mark)
    #expect(counter.value == 1 && !counter.isPending)
    await operation.ended()
    #expect(counter.value == 1 && counter.confirmed == 1)
  }

  @Test(.holds("Uncertain"))
  func `a confirm after a cancellation ends the doubt`() async throws {
    let like = ControlledUseCase<Bool, Void>()
    let heart = OptimisticValue(false)
    let operation = heart.change(like.execute(true)) { $0 = true }
    _ = try await like.next()
    operation.cancel()
    heart.confirm(false)
    #expect(!heart.isUncertain && !heart.value)
    await operation.ended()
    #expect(!heart.isUncertain && !heart.value)
  }

  @Test(.holds("Confirmed and changes"))
  func `the value has what its comparison leaves out`() async throws {
    struct Note: Equatable {
      let id: Int
      var title: String
      static func == (left: Note, right: Note) -> Bool { left.id == right.id }
    }
    let note = OptimisticValue(Note(id: 1, title: "A"))
    let rename = AnyUseCase<String, Void> { _ in }
    let operation = note.change(rename.execute("B")) { $0.title = "B" }
    #expect(note.value.title == "B")
    await operation.ended()
    note.confirm(Note(id: 1, title: "C"))
    #expect(note.value.title == "C")
  }

  @Test(.holds("Since a mark"))
  func `the end of the last mark lets go of the successes`() async {
    let rows = OptimisticValue([String]())
    let (write, changes) = (AnyUseCase<String, Void> { _ in }, Lifetime())
    do {
      let mark = rows.mark()
      await rows.change(write.execute("a")) { [token = changes.track()] rows in
        withExtendedLifetime(token) { rows.append("a") }
      }.ended()
      rows.confirm(["a"], since: mark)
    }
    await changes.over()
  }

  enum Interruption: CaseIterable { case timeout, cancelAll, cancelledTask }

  @Test(.holds("Uncertain"), arguments: Interruption.allCases)
  func `a call in a body that is interrupted leaves doubt`(by: Interruption) async throws {
    let (clock, begun, gate) = (ManualClock(), Gate(), Gate())
    let server = AnyUseCase<Bool, Void>(
      queue: UseCaseQueue(clock: clock),
      timeout: by == .timeout ? .seconds(1) : UseCaseTimeout.never
    ) { _ in
      begun.open()
      await gate.passIgnoringCancellation()
    }
    let like = AnyUseCase<Bool, Void> { isLiked in
      async let answer: Void = server(isLiked)
      await begun.passIgnoringCancellation()
      // At the end of the scope, what is not awaited is cancelled.
      if by == .cancelledTask { throw Offline() }
      try await answer
    }
    let heart = OptimisticValue(false)
    let operation = heart.change(like.execute(true)) { $0 = true }
    await begun.passIgnoringCancellation()
    switch by {
    case .timeout:
      try await clock.sleeping(for: .seconds(1))
      await clock.advance(by: .seconds(1))
    case .cancelAll: server.queue.cancelAll()
    case .cancelledTask: break
    }
    await operation.ended()
    #expect(heart.isUncertain && !heart.value)
    gate.open()
  }

  @Test(.holds("Uncertain"))
  func `a shared run that is interrupted leaves doubt`() async throws {
    let (begun, gate) = (Gate(), Gate())
    let queue = UseCaseQueue()
    let like = AnyUseCase<Bool, Void>(queue: queue) { _ in
      begun.open()
      await gate.passIgnoringCancellation()
    }.shared()
    let heart = OptimisticValue(false)
    let operation = heart.change(like.execute(true)) { $0 = true }
    await begun.passIgnoringCancellation()
    queue.cancelAll()
    gate.open()
    await operation.ended()
    #expect(heart.isUncertain && !heart.value)
  }

  @Test(.holds("Uncertain"))
  func `only a body that was interrupted leaves doubt, until the server is asked`() async throws {
    let like = ControlledUseCase<Bool, Void>(queue: UseCaseQueue(.serial))
    let heart = OptimisticValue(false)
    let operations = (1...2).map { _ in heart.change(like.execute(true)) { $0 = true } }
    let first = try await like.next()
    operations[1].cancel()
    try await operations[1].settled()
    #expect(!heart.isUncertain && heart.value)

    operations[0].cancel()
    try await first.cancelled()
    try await operations[0].settled()
    #expect(heart.isUncertain && !heart.value && heart.error == nil)
    heart.confirm(true)
    #expect(!heart.isUncertain && heart.value)
  }
}
