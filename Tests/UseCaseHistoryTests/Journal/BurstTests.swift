import TestSupport
import Testing
import UseCase

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

  @Test func `an intent that was written together with an end is written once`() throws {
    var queue = JournalQueue<Int, Int>()
    let (first, second) = (HistoryEntry.ID.next(), HistoryEntry.ID.next())
    let pair = HistoryPair(name: "write", request: [])
    queue.announce(first, pair)
    let withdrawn = queue.begin(EmptyCollection())
    let batch = try #require(withdrawn)
    #expect(batch.facts.map(\.fact) == [.began(first, in: nil, pair)])
    _ = queue.failed(batch, HistoryJournalError(.cannotWrite))
    // It is withdrawn, and so written when the execution begins.
    let isWritten = queue.takeAnnounced(first)
    _ = queue.leave()
    queue.announce(second, pair)
    _ = queue.begin(EmptyCollection()).map { queue.wrote($0) }
    let taken = [first, second, second].map { queue.takeAnnounced($0) }
    #expect(isWritten == nil && taken == [nil, pair, nil])
  }

  @Test func `an intent that was withdrawn does not keep the journal from being written anew`() {
    var queue = JournalQueue<Int, Int>()
    queue.announce(.next(), HistoryPair(name: "write", request: []))
    _ = queue.begin(EmptyCollection()).map {
      queue.failed($0, HistoryJournalError(.cannotWrite))
    }
    #expect(queue.lastIfQuiet == 1)
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
