import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Random bursts on a history with a journal that fails at each write in turn, or ends there.
///
/// `JOURNAL_SEED=7 swift test` runs other ones, `JOURNAL_BURSTS=10000` more of them.
@Suite(.mustEnd)
struct RandomBurstTests {
  @Test(arguments: [false, true], [false, true])
  func `a burst is found again as it was, whichever write has failed`(
    isWritten: Bool, isPrompt: Bool
  ) async throws {
    try await forEachWrite { asks, write in
      let burst = Burst(Disk(isPrompt: isPrompt), asks)
      let isReached = try await burst.run(
        .full(from: write, count: 1, isWritten: isWritten), isThenWritten: true)
      let live = burst.layout
      try await burst.reopen()
      #expect(burst.layout == live && burst.paper.asked.elements.isEmpty, "write \(write), \(asks)")
      return isReached
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `a burst in which the process ends has an entry for each effect`(
    isWritten: Bool, isPrompt: Bool
  ) async throws {
    try await forEachWrite { asks, write in
      let burst = Burst(Disk(isPrompt: isPrompt), asks)
      let isReached = try await burst.run(
        .crash(at: write, isWritten: isWritten), isThenWritten: false)
      try await burst.reopen()
      let (lines, entries) = (burst.lines, burst.applied)
      #expect(entries.isSubset(of: lines), "write \(write), \(asks)")
      // Those that were asked for behind the last clear.
      let kept = lines.filter { $0 > burst.clearedUpTo }
      #expect(entries.isSuperset(of: kept), "write \(write), \(asks)")
      await burst.undoAll()
      #expect(burst.paper.violations.elements.isEmpty, "write \(write), \(asks)")
      return isReached
    }
  }

  private func forEachWrite(
    _ body: ([Burst.Ask], _ write: Int) async throws -> Bool
  ) async throws {
    func number(_ name: String) -> Int? {
      ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
    var random = SeededGenerator(seed: UInt64(number("JOURNAL_SEED") ?? 1))
    for _ in 0..<(number("JOURNAL_BURSTS") ?? 25) {
      let asks = (0..<Int.random(in: 2...7, using: &random)).map { _ in Burst.Ask.random(&random) }
      // The first write is that of a new journal.
      var write = 2
      while try await body(asks, write) { write += 1 }
    }
  }
}

/// Many things that are asked for at once.
private final class Burst {
  enum Ask {
    case execute
    /// A wrapper on the lane calls recorded use cases.
    case call(Int)
    case cancel, undo, clear, yield

    static func random(_ random: inout some RandomNumberGenerator) -> Self {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8: .execute
      case 8..<11: .call(.random(in: 1...3, using: &random))
      case 11..<13: .cancel
      case 13..<15: .undo
      case 15..<16: .clear
      default: .yield
      }
    }
  }

  let paper = Paper()
  private(set) var clearedUpTo = 0
  private let disk: Disk
  private let asks: [Ask]
  private var history: UseCaseHistory?
  private var texts = 0

  init(_ disk: Disk, _ asks: [Ask]) { (self.disk, self.asks) = (disk, asks) }

  var layout: String { history?.layout ?? "" }
  /// The texts whose effects are there, and those of the applied entries.
  var lines: Set<Int> {
    Set(paper.lines.value.compactMap { paper.text($0) }.compactMap { Int($0) })
  }
  var applied: Set<Int> {
    Set((history?.entries ?? []).filter(\.isApplied).compactMap { Int($0.title) })
  }

  /// Asks for all, and returns when nothing is left to do: whether the write came that fails.
  func run(_ fault: Disk.Fault, isThenWritten: Bool) async throws -> Bool {
    let history = try await UseCaseHistory.open(disk, paper)
    disk.fail(fault)
    let write = Write(paper: paper).recorded(in: history)
    let wrapper = AnyUseCase<[String], Void>(queue: write.queue) { texts in
      for text in texts { _ = try? await write(text) }
    }
    var cancel: () -> Void = {}
    for ask in asks {
      switch ask {
      case .execute:
        let operation = write.execute(text())
        cancel = { operation.cancel() }
      case .call(let count):
        let operation = wrapper.execute((0..<count).map { _ in text() })
        cancel = { operation.cancel() }
      case .cancel: cancel()
      case .undo: history.undo()
      case .clear:
        history.clear()
        clearedUpTo = texts
      case .yield: await Task.yield()
      }
    }
    await history.idle()
    // What a write has failed to tell is told by the next one.
    if isThenWritten { await history.write(paper, text()) }
    await history.idle()
    self.history = history
    return switch fault {
    case .full(let write, _, _), .crash(let write, _): disk.writes >= write
    case .none: false
    }
  }

  /// The next process opens what is there.
  func reopen() async throws { history = try await .open(disk.next(), paper) }

  func undoAll() async { await history?.move(to: nil).ended() }

  private func text() -> String {
    texts += 1
    return "\(texts)"
  }
}
