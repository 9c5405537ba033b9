import TestSupport
import Testing
import UseCase
import UseCaseJournal

@testable import UseCaseHistory

/// Executions that wait for each other. The end of one and the intent of the next are written
/// together.
@Suite(.mustEnd)
struct BurstTests {
  private let paper = Paper()
  private static let texts = ["A", "B", "C", "D", "E", "F"]

  /// Executes all at once, and returns when they have ended.
  private func execute(_ texts: [String], in history: UseCaseHistory) async {
    let write = Write(paper: paper)
    for operation in texts.map({ history.execute(write, $0) }) { await operation.ended() }
  }

  @Test(.holds("A burst"), arguments: [false, true], [false, true])
  func `each execution is one write, also of an erased use case`(
    isPrompt: Bool, isErased: Bool
  ) async throws {
    let disk = Disk(isPrompt: isPrompt)
    let history = try await UseCaseHistory.open(disk, paper)
    let gate = paper.hold("do A")
    let write = Write(paper: paper)
    let erased = AnyUseCase(write.recorded(in: history))
    let operations = Self.texts.map { isErased ? erased.execute($0) : history.execute(write, $0) }
    await paper.began("do A")
    let writes = disk.writes
    gate.open()
    for operation in operations { await operation.ended() }
    #expect(disk.writes == writes + Self.texts.count)
    #expect(history.layout == "[A B C D E F |]")
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A B C D E F |]")
  }

  @Test(.holds("A burst"), arguments: [false, true])
  func `a crash at any write loses nothing that was written`(isWritten: Bool) async throws {
    for write in 2...8 {
      let (disk, paper) = (Disk(isPrompt: write.isMultiple(of: 2)), Paper())
      disk.fail(.crash(at: write, isWritten: isWritten))
      let history = try await UseCaseHistory.open(disk, paper)
      let use = Write(paper: paper)
      for operation in Self.texts.map({ history.execute(use, $0) }) { await operation.ended() }
      let next = try await UseCaseHistory.open(disk.next(), paper)
      let applied = next.entries.map(\.title)
      #expect(applied == paper.lines.value.compactMap { paper.text($0) }, "write \(write)")
      #expect(next.entries.allSatisfy { $0.standing == .normal })
      #expect(Self.texts.starts(with: applied))
    }
  }

  @Test(.holds("A burst"))
  func `an execution that is cancelled behind its intent was never asked for`() async throws {
    let disk = Disk()
    let history = try await UseCaseHistory.open(disk, paper)
    let body = paper.hold("do A")
    let write = Write(paper: paper)
    let (first, second) = (history.execute(write, "A"), history.execute(write, "B"))
    await paper.began("do A")
    let (isReached, end) = (Gate(), Gate())
    disk.watch { _ in
      isReached.open()
      await end.passIgnoringCancellation()
    }
    body.open()
    // The end of the first and the intent of the second are being written.
    try await isReached.pass()
    second.cancel()
    end.open()
    await first.ended()
    await second.ended()
    await history.write(paper, "C")
    #expect(paper.log.elements == ["do A", "do C"])
    #expect(history.layout == "[A C |]")
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A C |]")
    #expect(paper.asked.elements.isEmpty)
  }

  /// The lane is suspended, and the first execution is held in its body. Returns both.
  private func two(in history: UseCaseHistory) async -> [UseCaseOperation<String, StoredAnswer>] {
    let body = paper.hold("do A")
    let write = Write(paper: paper).recorded(in: history)
    let operations = ["A", "B"].map { write.execute($0) }
    await paper.began("do A")
    write.queue.suspend()
    body.open()
    await operations[0].ended()
    return operations
  }

  @Test(.holds("A burst"))
  func `that a waiting execution is cancelled behind its intent is written at once`() async throws {
    let disk = Disk()
    let history = try await UseCaseHistory.open(disk, paper)
    let second = await two(in: history)[1]
    let isWritten = Gate()
    disk.watch { _ in isWritten.open() }
    second.cancel()
    try await isWritten.pass()
    await history.idle()
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A |]")
    #expect(paper.asked.elements.isEmpty)
  }

  @Test(.holds("A burst"))
  func `an execution that begins after a clear is not lost with it`() async throws {
    let disk = Disk()
    let history = try await UseCaseHistory.open(disk, paper)
    let second = await two(in: history)[1]
    let body = paper.hold("do B")
    history.clear()
    Write(paper: paper).recorded(in: history).queue.resume()
    await paper.began("do B")
    disk.fail(.crash(at: disk.writes + 1, isWritten: false))
    body.open()
    await second.ended()
    let next = try await UseCaseHistory.open(disk.next(), paper)
    #expect(next.layout == "[B |]" && paper.asked.elements.count == 1)
    #expect(paper.discarded == ["A1 cleared"])
  }

  @Test(.holds("A burst"))
  func `an execution is announced once, however many bodies end before it`() async throws {
    let disk = Disk()
    let history = try await UseCaseHistory.open(disk, paper)
    let write = Write(paper: paper).recorded(in: history)
    let wrapper = AnyUseCase<Void, Void>(queue: write.queue) { _ in
      for text in ["A", "B"] { _ = try await write(text) }
    }
    let body = paper.hold("do A")
    let operation = wrapper.execute()
    await paper.began("do A")
    let behind = write.execute("C")
    body.open()
    await operation.ended()
    await behind.ended()
    #expect(history.layout == "[A B C |]")
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A B C |]")
  }

  @Test(.holds("A burst"))
  func `an execution that leaves while its request is encoded was never asked for`() async throws {
    let coder = LateCoder()
    let disk = Disk(coder: coder)
    let history = try await UseCaseHistory.open(disk, paper)
    let body = paper.hold("do A")
    let write = Write(paper: paper).recorded(in: history)
    let (first, second) = (write.execute("A"), write.execute("B"))
    await paper.began("do A")
    coder.beforeEncoding.update { $0 = { if $0 == "B" { second.cancel() } } }
    body.open()
    await first.ended()
    await second.ended()
    await history.idle()
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A |]")
    #expect(paper.asked.elements.isEmpty && paper.log.elements == ["do A"])
  }

  @Test(.holds("A burst"), arguments: [false, true], [false, true])
  func `a write that fails takes the intent of the next execution back, if it was written or not`(
    isWritten: Bool, isPrompt: Bool
  ) async throws {
    let disk = Disk(isPrompt: isPrompt)
    let history = try await UseCaseHistory.open(disk, paper)
    let body = paper.hold("do A")
    let write = Write(paper: paper).recorded(in: history)
    let operations = ["A", "B"].map { write.execute($0) }
    await paper.began("do A")
    disk.fail(.full(from: disk.writes + 1, count: 1, isWritten: isWritten))
    body.open()
    for operation in operations { await operation.ended() }
    #expect(history.layout == "[A B |]" && history.journalError == nil)
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == "[A B |]")
    #expect(paper.asked.elements.isEmpty)
  }

  @Test func `an intent that was written together with an end is written once`() throws {
    var queue = JournalQueue<Int, Int>()
    let (first, second) = (HistoryEntry.ID.next(), HistoryEntry.ID.next())
    let pair = HistoryPair(name: "write", request: [])
    queue.announce(first, pair)
    let withdrawn = queue.claim(nil)
    let batch = try #require(withdrawn)
    #expect(batch.facts.map(\.fact) == [.began(first, in: nil, pair)])
    _ = queue.failed(batch, HistoryJournalError(.cannotWrite))
    // It is withdrawn, and so written when the execution begins.
    let isWritten = queue.takeAnnounced(first)
    _ = queue.endTurn()
    queue.announce(second, pair)
    _ = queue.claim(nil).map { queue.wrote($0) }
    let taken = [first, second, second].map { queue.takeAnnounced($0) }
    #expect(!isWritten && taken == [false, true, false])
  }

  @Test func `an intent that was withdrawn does not keep the journal from being written anew`() {
    var queue = JournalQueue<Int, Int>()
    queue.announce(.next(), HistoryPair(name: "write", request: []))
    _ = queue.claim(nil).map {
      queue.failed($0, HistoryJournalError(.cannotWrite))
    }
    // The intent, and that it was withdrawn.
    #expect(queue.lastIfQuiet == 2)
  }

  @Test(.holds("Size"))
  func `a journal is compacted in the middle of a burst`() async throws {
    let disk = Disk()
    let history = try await UseCaseHistory.open(disk, paper, limit: 2)
    await execute((0..<400).map { "\($0)" }, in: history)
    #expect(disk.replacements > 2)
    #expect(disk.bytes < 20_000)
  }
}

/// Calls a closure before it encodes a text.
private final class LateCoder: HistoryCoder {
  let beforeEncoding = Watched<@Sendable (String) -> Void>({ _ in })
  private let json = JSONHistoryCoder()

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    if let text = value as? String { beforeEncoding.value(text) }
    return try json.encode(value)
  }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try json.decode(type, from: bytes)
  }
}
