import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// A history whose journal is in the database of the document.
@Suite(.mustEnd)
struct TransactionTests {
  @TaskLocal private static var place = "outside"

  private let disk = Disk()
  private let paper = Paper()
  private let database: Database

  init() { database = Database(disk, paper) }

  private func open() async throws -> UseCaseHistory { try await .open(database, paper) }

  /// Opens what the next process finds.
  private func reopen() async throws -> (UseCaseHistory, Database) {
    let next = Database(disk.next(), paper)
    return (try await .open(next, paper), next)
  }

  /// The calls without the reservations of ids, which are rare.
  private var calls: [String] { database.calls.elements.filter { $0 != "write" } }

  @Test(.holds("One transaction"))
  func `an execution, an undo and a redo are one transaction each, and nothing else`() async throws
  {
    let history = try await open()
    #expect(calls == ["read"])
    await history.write(paper, "A", "B")
    await history.back(2)
    await history.forth(1)
    #expect(calls.dropFirst(1) == Array(repeating: "transaction", count: 5)[...])
    let (next, _) = try await reopen()
    #expect(next.layout == "[A | B]*" || next.layout == "[A | B]")
    #expect(next.entries == history.entries)
    #expect(paper.asked.elements.isEmpty)
  }

  @Test(.holds("One transaction"))
  func `the body runs in its transaction, with the task-local values of its task`() async throws {
    let history = try await open()
    paper.script("do A") { [database] in
      #expect(database.calls.elements.last == "transaction")
      #expect(Self.place == "inside")
    }
    await Self.$place.withValue("inside") { _ = await history.write(paper, "A") }
    #expect(paper.lines.value == [1])
  }

  @Test(.holds("One transaction"))
  func `an entry that was to merge, and does not, stays one of its own`() async throws {
    let history = try await open()
    let letters = Letters(paper: paper)
    await history.execute(letters, "a").ended()
    // The fate of the second is asked for in its transaction, which is then committed.
    disk.watch { [paper] _ in
      if paper.log.elements.last == "do b" { history.breakMerging() }
    }
    await history.execute(letters, "b").ended()
    #expect(history.layout == "[a b |]")
    #expect(try await reopen().0.layout == "[a b |]")
  }

  @Test(.holds("A transaction that fails"))
  func `a commit that says it failed and cannot be looked up stays in the database`() async throws {
    let history = try await open()
    await history.write(paper, "A")
    paper.script("do B") { [disk] in
      disk.fail(.full(from: disk.writes + 1, count: 1, isWritten: true))
      disk.reads(false)
    }
    let outcome = await history.write(paper, "B")
    #expect(outcome?.journalReason == .cannotWrite, "\(String(describing: outcome))")
    #expect(paper.lines.value == [1, 2])
    disk.reads(true)
    // A later write would delete the row of B.
    #expect(await history.write(paper, "C")?.journalReason == .cannotWrite)
    history.clear()
    await history.idle()
    #expect((history.journalError as? HistoryJournalError)?.reason == .cannotWrite)
    #expect(try await reopen().0.layout == "[A B |]")
    #expect(paper.lines.value == [1, 2])
  }

  @Test(.holds("A transaction that fails"), arguments: Database.Step.allCases)
  func `a failed transaction changes nothing`(step: Database.Step) async throws {
    let history = try await open()
    await history.write(paper, "A", "B")
    await history.back(1)
    database.fail(at: step)
    let write = Write(paper: paper)
    for operation in [
      await history.execute(write, "C").ended().error, await history.undo().ended().error,
      await history.redo().ended().error, await history.move(to: nil).ended().error,
    ] {
      #expect(operation as? Database.Failed == Database.Failed(step: step))
    }
    #expect(history.layout == "[A | B]")
    #expect(paper.lines.value == [1])
    #expect(history.journalError == nil)
    #expect(try await reopen().0.layout == "[A | B]")
    database.fail(at: nil)
    await history.forth(1)
    await history.write(paper, "C")
    #expect(history.layout == "[A B C |]")
    #expect(try await reopen().0.layout == "[A B C |]")
    #expect(paper.asked.elements.isEmpty)
  }

  @Test(
    .holds("A transaction that fails"), arguments: [Database.Manner.once, .wrapping, .swallowing])
  func `the error of the body counts, however the journal wraps it`(
    manner: Database.Manner
  ) async throws {
    let history = try await open()
    await history.execute(Tag(paper: paper), "T").ended()
    database.behave(manner)
    paper.fail("do A")
    #expect(await history.write(paper, "A")?.error is Failure)
    paper.fail("undo T1")
    #expect(await history.undo().ended().error is HistoryObsolete)
    #expect(history.layout == "[|]")
    await history.idle()
    #expect(try await reopen().0.layout == "[|]")
    #expect(paper.discarded == ["T1 obsolete"])
  }

  @Test(.holds("A transaction that fails"), arguments: [Database.Manner.twice, .never])
  func `a journal that runs the body twice or never fails the execution`(
    manner: Database.Manner
  ) async throws {
    let history = try await open()
    database.behave(manner)
    #expect(await history.write(paper, "A")?.journalReason == .cannotWrite)
    #expect(paper.log.elements == (manner == .twice ? ["do A"] : []))
    #expect(paper.lines.value.isEmpty)
    #expect(history.layout == "[|]*")
    database.behave(.once)
    await history.write(paper, "B")
    #expect(try await reopen().0.layout == "[B |]")
  }

  @Test(.holds("One transaction"))
  func `nothing else is written while a transaction is open`() async throws {
    let history = try await open()
    await history.write(paper, "A")
    let gate = paper.hold("do B")
    let operation = history.execute(Write(paper: paper), "B")
    await paper.began("do B")
    history.limit = 5
    history.save()
    gate.open()
    await operation.ended()
    await history.idle()
    #expect(database.violations.elements.isEmpty)
    #expect(history.layout == "[A B |]")
    #expect(try await reopen().0.layout == "[A B |]")
  }

  @Test(.holds("One transaction"))
  func `parts that run side by side wait for each other`() async throws {
    let history = try await open()
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for text in ["A", "B", "C", "D"] { group.addTask { _ = try await write(text) } }
        try await group.waitForAll()
      }
    }.ended()
    #expect(database.violations.elements.isEmpty)
    #expect(calls.count { $0 == "transaction" } == 4)
    #expect(history.state.undoCount == 1)
    let (next, _) = try await reopen()
    #expect(next.entries == history.entries)
    await next.back(1)
    #expect(paper.lines.value.isEmpty)
  }

  @Test(.holds("One transaction"))
  func `a recorded use case called in a recorded body runs in its transaction`() async throws {
    let history = try await open()
    let inner = Write(paper: paper).recorded(in: history)
    paper.script("do A") { _ = try await inner("B") }
    await history.write(paper, "A")
    #expect(calls.count { $0 == "transaction" } == 1)
    #expect(history.layout == "[A |]")
    #expect(paper.lines.value.count == 2)
  }

  @Test(.holds("One transaction"))
  func `a group whose body throws is undone, part by part`() async throws {
    let history = try await open()
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") {
      _ = try await write("A")
      _ = try await write("B")
      throw Failure("G")
    }.ended()
    #expect(calls.count { $0 == "transaction" } == 4)
    #expect(paper.lines.value.isEmpty)
    #expect(history.layout.hasPrefix("[|]"))
    #expect(try await reopen().0.layout.hasPrefix("[|]"))
  }

  @Test(.holds("One transaction"), arguments: [HistoryInterruption.compensate, .keep])
  func `the committed parts of a group that was interrupted are undone or kept`(
    interruption: HistoryInterruption
  ) async throws {
    let history = try await open()
    let write = Write(paper: paper).recorded(in: history)
    let gate = paper.hold("do C")
    let group = history.group("G") { for text in ["A", "B", "C"] { _ = try await write(text) } }
    await paper.began("do C")
    let next = Database(disk.next(), paper)
    disk.kill()
    gate.open()
    await group.ended()
    paper.repair("do C")
    let reopened = try await UseCaseHistory.open(next, paper, interrupted: interruption)
    #expect(reopened.layout.hasPrefix(interruption == .keep ? "[G(A B) |]" : "[|]"))
    #expect(paper.lines.value == (interruption == .keep ? [1, 2] : []))
    #expect(paper.asked.elements.isEmpty)
  }

  @Test(.holds("In doubt"))
  func `what was interrupted before the journal had transactions is settled`() async throws {
    let plain = try await UseCaseHistory.open(disk, paper)
    await plain.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await plain.write(paper, "B")
    let (history, next) = try await reopen()
    #expect(history.layout == "[A B |]" && paper.asked.count == 1)
    await history.back(2)
    #expect(paper.lines.value == [] && paper.violations.elements == [])
    #expect(
      try await UseCaseHistory.open(Database(next.disk.next(), paper), paper).layout
        .hasPrefix("[| A B]"))
  }

  @Test(.holds("One transaction"), arguments: ["do", "undo", "redo"])
  func `what is written before a transaction begins leaves no doubt`(action: String) async throws {
    let (began, gate) = (Gate(), Gate())
    let isHeld = Watched(false)
    let queue = UseCaseQueue(interceptors: [Held(isHeld: isHeld, began: began, gate: gate)])
    let history = try await open()
    let write = Write(paper: paper, queue: queue)
    if action != "do" { await history.execute(write, "A").ended() }
    if action == "redo" { await history.back(1) }
    let lines = paper.lines.value
    isHeld.update { $0 = true }
    let ended = Task {
      switch action {
      case "do": _ = await history.execute(write, "A").ended()
      case "undo": _ = await history.undo().ended()
      default: _ = await history.redo().ended()
      }
    }
    await began.passIgnoringCancellation()
    let writes = disk.writes
    history.limit = 5
    while disk.writes == writes { await Task.yield() }
    let (next, _) = try await reopen()
    #expect(paper.asked.elements.isEmpty && paper.lines.value == lines)
    let layouts = ["do": "[|]", "undo": "[A |]", "redo": "[| A]"]
    #expect(next.layout.hasPrefix(try #require(layouts[action])))
    paper.live(with: disk)
    gate.open()
    await ended.value
  }

  /// Throws after the undo and the redo, once each.
  private struct Afterwards: UseCaseInterceptor {
    let isThrowing: Watched<Bool>

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let response = try await next(request)
      if isThrowing.value { throw Failure("after") }
      return response
    }
  }

  @Test(.holds("One transaction"))
  func `two that annul each other leave nothing, now and at the next launch`() async throws {
    let history = try await open()
    for text in ["x", "X"] { await history.execute(Letters(paper: paper), text).ended() }
    #expect(history.layout.hasPrefix("[|]"))
    #expect(paper.lines.value.isEmpty)
    #expect(try await reopen().0.layout.hasPrefix("[|]"))
  }

  @Test(.holds("One transaction"), arguments: [0, 1])
  func `a clear from inside and a limit take effect behind the transaction`(
    limit: Int
  ) async throws {
    let history = try await open()
    await history.write(paper, "A")
    paper.script("do B") { history.clear() }
    await history.write(paper, "B")
    #expect(history.layout == "[|]")
    history.limit = limit
    await history.write(paper, "C", "D")
    await history.idle()
    let layout = limit == 0 ? "[|]" : "[D |]"
    #expect(history.layout == layout)
    #expect(
      try await UseCaseHistory.open(
        Database(disk.next(), paper), paper, limit: limit
      ).layout == layout)
    #expect(database.violations.elements.isEmpty)
  }

  @Test(.holds("A transaction that fails"))
  func `an entry that can never be undone leaves, also if that is written later`() async throws {
    let history = try await open()
    for text in ["S", "T"] { await history.execute(Tag(paper: paper), text).ended() }
    paper.fail("undo T2")
    disk.fail(.full(from: disk.writes + 2, count: 1, isWritten: false))
    #expect(await history.undo().ended().error is HistoryObsolete)
    disk.fail(.none)
    #expect(history.layout == "[S |]")
    await history.back(1)
    #expect(history.layout.hasPrefix("[| S]"))
    #expect(try await reopen().0.layout.hasPrefix("[| S]"))
  }

  @Test(.holds("One transaction"))
  func `each attempt of a retry is a transaction, and what is committed counts`() async throws {
    let isThrowing = Watched(false)
    let queue = UseCaseQueue(
      interceptors: [Afterwards(isThrowing: isThrowing), RetryInterceptor(attempts: 2)])
    let history = try await open()
    for action in ["do A", "undo A1", "redo A1"] {
      let isFirst = Watched(true)
      paper.script(action) {
        let fails = isFirst.update { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if fails { throw Failure(action) }
      }
    }
    let operation = history.execute(Write(paper: paper, queue: queue), "A")
    #expect(await operation.ended().value != nil)
    #expect(calls.count { $0 == "transaction" } == 2)
    isThrowing.update { $0 = true }
    #expect(await history.undo().ended().error is Failure)
    #expect(history.layout.hasPrefix("[| A]") && paper.lines.value.isEmpty)
    #expect(await history.redo().ended().error is Failure)
    #expect(history.layout == "[A |]" && paper.lines.value.count == 1)
    #expect(await history.execute(Write(paper: paper, queue: queue), "B").ended().error is Failure)
    #expect(calls.count { $0 == "transaction" } == 7)
    #expect(history.layout == "[A B |]")
    #expect(try await reopen().0.entries == history.entries)
  }

  @Test(.holds("One transaction"))
  func `each attempt of a retry is a transaction of its own`() async throws {
    let retried = Retried(paper: paper, queue: UseCaseQueue(interceptors: [Again()]))
    let history = try await UseCaseHistory.open(database, for: [retried])
    let failures = Watched(2)
    for action in ["do A", "undo A"] {
      paper.script(action) {
        let left = failures.update { left in
          left -= 1
          return left
        }
        if left >= 0 { throw Failure(action) }
      }
    }
    await history.execute(retried, "A").ended()
    #expect(calls.dropFirst(1) == ["transaction", "transaction", "transaction"])
    #expect(paper.lines.value.count == 1)
    failures.update { $0 = 2 }
    await history.back(1)
    #expect(calls.count { $0 == "transaction" } == 6)
    #expect(paper.lines.value.isEmpty)
    let next = Database(disk.next(), paper)
    #expect(try await UseCaseHistory.open(next, for: [retried]).layout.hasPrefix("[| A]"))
  }

  @Test(.holds("One transaction"))
  func `what is committed counts, whatever an interceptor makes of it`() async throws {
    let retried = Retried(paper: paper, queue: UseCaseQueue(interceptors: [Twice()]))
    let history = try await UseCaseHistory.open(database, for: [retried])
    // The body runs once, its interceptor twice, and that throws.
    #expect(await history.execute(retried, "A").ended().error is Failure)
    #expect(paper.log.elements == ["do A"])
    #expect(history.layout == "[A |]")
    #expect(await history.undo().ended().error is Failure)
    #expect(paper.log.elements == ["do A", "undo A"])
    #expect(history.layout.hasPrefix("[| A]"))
    #expect(await history.redo().ended().error is Failure)
    #expect(history.layout == "[A |]")
    let next = Database(disk.next(), paper)
    #expect(try await UseCaseHistory.open(next, for: [retried]).layout == "[A |]")
  }

  @Test(.holds("One transaction"))
  func `attempts that overlap are one transaction`() async throws {
    let hedged = Retried(paper: paper, queue: UseCaseQueue(interceptors: [Hedge()]))
    let history = try await UseCaseHistory.open(database, for: [hedged])
    await history.execute(hedged, "A").ended()
    #expect(history.layout == "[A |]" && paper.lines.value.count == 1)
    await history.back(1)
    #expect(history.layout.hasPrefix("[| A]") && paper.lines.value.isEmpty)
    await history.forth(1)
    #expect(paper.log.elements == ["do A", "undo A", "do A"])
    let next = Database(disk.next(), paper)
    #expect(try await UseCaseHistory.open(next, for: [hedged]).layout == "[A |]")
  }

  @Test(.holds("A transaction that fails"))
  func `the response of what was not committed is not missing`() async throws {
    let history = try await UseCaseHistory.open(database, for: [Mute()])
    database.fail(at: .commit)
    #expect(await history.execute(Mute(), "A").ended().error is Database.Failed)
    #expect(history.journalError == nil && history.entries.isEmpty)
    database.fail(at: nil)
    await history.execute(Mute(), "B").ended()
    #expect(history.journalError is HistoryJournalError)
  }

  @Test(.holds("A transaction that fails"))
  func `a response is still missing when the entry did not leave after all`() async throws {
    let history = try await UseCaseHistory.open(database, for: [Mute(), Write(paper: paper)])
    await history.execute(Mute(), "A").ended()
    await history.back(1)
    #expect(history.journalError is HistoryJournalError)
    database.fail(at: .commit)
    // B would take the place of A.
    #expect(await history.write(paper, "B")?.error is Database.Failed)
    #expect(history.journalError is HistoryJournalError)
    #expect(history.state.redoCount == 1)
  }

  @Test(.holds("A transaction that fails"))
  func `what was not written comes with the next transaction`() async throws {
    let history = try await open()
    await history.write(paper, "A", "B")
    disk.fail(.full(from: disk.writes + 1, count: 9, isWritten: false))
    history.limit = 1
    await history.idle()
    #expect(history.journalError != nil)
    disk.fail(.none)
    await history.write(paper, "C")
    #expect(history.journalError == nil)
    #expect(try await reopen().0.layout == "[C |]")
  }
}

/// Waits before the body.
private struct Held: UseCaseInterceptor {
  let isHeld: Watched<Bool>
  let began: Gate
  let gate: Gate

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    if isHeld.value {
      began.open()
      await gate.passIgnoringCancellation()
    }
    return try await next(request)
  }
}

/// Returns what cannot be encoded.
private struct Mute: JournaledUseCase {
  struct Reply: Codable, Sendable {
    func encode(to encoder: any Encoder) throws { throw Failure("encode") }
  }

  static let journalName = "mute"
  func main(_: String) async throws -> Reply { Reply() }
  func undo(_: String, _: Reply) async throws {}
}

/// Writes a line, with interceptors around it.
private struct Retried: JournaledUseCase {
  static let journalName = "retried"
  let paper: Paper
  let queue: UseCaseQueue

  func main(_ text: String) async throws -> StoredAnswer { try await paper.add("do \(text)", text) }
  func undo(_ text: String, _ answer: StoredAnswer) async throws {
    try await paper.remove("undo \(text)", answer)
  }
  func title(for text: String) -> String { text }
}

/// Tries three times.
private struct Again: UseCaseInterceptor {
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    for _ in 1...2 {
      do { return try await next(request) } catch {}
    }
    return try await next(request)
  }
}

/// Goes on twice, and throws.
private struct Twice: UseCaseInterceptor {
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    for _ in 1...2 { _ = try await next(request) }
    throw Failure("interceptor")
  }
}

/// Makes two attempts at once.
private struct Hedge: UseCaseInterceptor {
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    async let first = next(request)
    async let second = next(request)
    _ = try await second
    return try await first
  }
}
