import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Random sessions that end at each write, whose history is then opened again and compared with the
/// reference.
///
/// `JOURNAL_SEED=7 swift test` runs other ones, `JOURNAL_CRASHES=100000` more of them.
@Suite(.mustEnd)
struct JournalCrashTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  private static let seed = UInt64(number("JOURNAL_SEED") ?? 1)
  private static let total = number("JOURNAL_CRASHES") ?? 500

  @Test(.holds("Crashes"), arguments: [Paper.Settling.truth, .unknown])
  func `a crash at any write loses nothing that was written`(
    settling: Paper.Settling
  ) async {
    await crash(Self.total / 4) { CrashSession(settling, Disk()) }
  }

  @Test(.holds("One transaction"))
  func `after a crash at any write of a database, the document and the history agree`() async {
    await crash(Self.total / 2) { CrashSession(.truth, inDatabase: true) }
  }

  /// An annulment is a record of its own, behind the transaction of its execution. Between the two,
  /// both executions are entries.
  @Test(.holds("One transaction"), arguments: [false, true])
  func `after a crash at any write of an annulment, each effect has its entry`(
    isWritten: Bool
  ) async throws {
    for write in 1... {
      let (disk, paper) = (Disk(), Paper())
      disk.fail(.crash(at: write, isWritten: isWritten))
      if let history = try? await UseCaseHistory.open(Database(disk, paper), paper) {
        await history.write(paper, "W")
        for text in ["x", "X", "b"] {
          await history.execute(Letters(paper: paper), text).ended()
        }
        await history.idle()
        if !disk.isDead { return #expect(history.layout == "[W b |]") }
      }
      let history = try await UseCaseHistory.open(Database(disk.next(), paper), paper)
      await history.idle()
      let (layout, lines) = (history.layout, paper.lines.value)
      #expect(history.entries.allSatisfy { $0.standing == .normal } && paper.asked.elements == [])
      #expect(lines.count == layout.count { "WxXb".contains($0) }, "write \(write): \(layout)")
      await history.move(to: nil).ended()
      #expect(paper.lines.value == [], "write \(write): \(layout)")
      if let last = history.entries.last { await history.move(to: last.id).ended() }
      #expect(history.layout == layout && paper.lines.value == lines, "write \(write)")
      #expect(paper.violations.elements == [])
    }
  }

  private func crash(_ count: Int, _ make: () -> CrashSession) async {
    var random = SeededGenerator(seed: Self.seed)
    var crashes = 0
    while crashes < count {
      let steps = (0..<Int.random(in: 2...14, using: &random)).map { _ in
        CrashSession.Step.random(&random)
      }
      var write = 1
      while true {
        for isWritten in [false, true] {
          let session = make()
          do {
            guard try await session.run(steps, crashingAt: write, isWritten: isWritten) else {
              write = 0
              break
            }
          } catch {
            Issue.record(
              """
              Seed \(Self.seed): \(error)
              at write \(write), \(isWritten ? "written" : "not written"), of
              \(steps.map { "\($0)" }.joined(separator: "\n"))
              """)
            return
          }
          crashes += 1
        }
        if write == 0 { break }
        write += 1
      }
    }
  }
}

/// A session on a history with a journal, and the same on the reference.
final class CrashSession {
  enum Step {
    case write(failsAt: Int), letter(Int), group(seed: UInt64, failsAt: Int)
    case drag(count: Int, isCancelled: Bool, failsAt: Int)
    case undo(failsAt: Int), redo(failsAt: Int), move(Int, failsAt: Int)
    case undoIn(Int, failsAt: Int), redoIn(Int, failsAt: Int)
    case clear, limit(Int?), save, breakMerging

    static func random(_ random: inout some RandomNumberGenerator) -> Self {
      let failsAt = [0, 0, 0, 1, 2, 3].randomElement(using: &random) ?? 0
      return switch Int.random(in: -22..<100, using: &random) {
      case -22..<(-15): .undoIn(.random(in: 0..<3, using: &random), failsAt: failsAt)
      case -15..<(-8): .redoIn(.random(in: 0..<3, using: &random), failsAt: failsAt)
      case -8..<0:
        .drag(
          count: .random(in: 1...3, using: &random), isCancelled: Bool.random(using: &random),
          failsAt: failsAt)
      case 0..<25: .write(failsAt: failsAt)
      case 25..<37: .letter(.random(in: 0..<8, using: &random))
      case 37..<52: .group(seed: .random(in: .min ... .max, using: &random), failsAt: failsAt)
      case 52..<70: .undo(failsAt: failsAt)
      case 70..<82: .redo(failsAt: failsAt)
      case 82..<88: .move(.random(in: 0..<100, using: &random), failsAt: failsAt)
      case 88..<90: .clear
      case 90..<94: .limit([nil, 1, 2, 3].randomElement(using: &random) ?? nil)
      case 94..<98: .save
      default: .breakMerging
      }
    }
  }

  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  /// The reference at one moment.
  private struct Moment {
    let layout: String
    let document: [Int]
  }

  private let disk: Disk
  private let paper = Paper()
  private let settling: Paper.Settling
  private let reference = ReferenceHistory()
  private var moments = [Moment(layout: "[|]*", document: [])]
  private var texts = 0
  private var limit: Int?

  /// Whether each body runs in a transaction of a database.
  private let isInDatabase: Bool

  init(
    _ settling: Paper.Settling, _ disk: Disk = Disk(), inDatabase isInDatabase: Bool = false
  ) {
    (self.settling, self.disk, self.isInDatabase) = (settling, disk, isInDatabase)
  }

  private func open(
    _ disk: Disk, interrupted: HistoryInterruption = .compensate
  ) async throws -> UseCaseHistory {
    guard isInDatabase else {
      return try await .open(disk, paper, interrupted: interrupted, limit: limit)
    }
    let database = Database(disk, paper)
    return try await .open(database, paper, interrupted: interrupted, limit: limit)
  }

  /// Returns false if there is no such write.
  func run(_ steps: [Step], crashingAt write: Int, isWritten: Bool) async throws -> Bool {
    disk.fail(.crash(at: write, isWritten: isWritten))
    paper.live(with: disk)
    var reached: Step?
    if let history = try? await open(disk) {
      for step in steps {
        await take(step, history)
        if disk.isDead {
          reached = step
          break
        }
        try check(moments[moments.count - 1].layout, history.layout, "layout")
      }
      if !disk.isDead {
        await history.idle()
        return false
      }
    }
    try await reopen(reached, crashingAgainAt: write % 5)
    return true
  }

  // MARK: Steps

  private func take(_ step: Step, _ history: UseCaseHistory) async {
    switch step {
    case .write(let failsAt):
      let text = text()
      await ask(.edit(text), failsAt) { await history.write(self.paper, text) }
    case .letter(let letter):
      let text = ["a", "b", "c", "a", "b", "x", "X", "Y"][letter]
      await ask(.typing(text), 0) {
        await history.execute(Letters(paper: self.paper), text).ended()
      }
    case .group(let seed, let failsAt):
      var random = SeededGenerator(seed: seed)
      let script = ReferenceHistory.Script.random(holds: true, &random, text: text)
      await ask(.group(script), failsAt) {
        await script.execute(by: Write(paper: self.paper), in: history)
          .ended()
      }
    case .drag(let count, let isCancelled, let failsAt):
      await drag((0..<count).map { _ in text() }, isCancelled, failsAt, history)
    case .undoIn(let number, let failsAt):
      let key = Self.keys[number]
      await ask(.undoIn([key]), failsAt) { await history.undo(in: .keys("\(key)")).ended() }
    case .redoIn(let number, let failsAt):
      let key = Self.keys[number]
      await ask(.redoIn([key]), failsAt) { await history.redo(in: .keys("\(key)")).ended() }
    case .undo(let failsAt): await ask(.undo, failsAt) { await history.undo().ended() }
    case .redo(let failsAt): await ask(.redo, failsAt) { await history.redo().ended() }
    case .move(let number, let failsAt):
      let entries = history.entries
      let index = number % (entries.count + 1) - 1
      let key = index < 0 ? nil : reference.entries[index].key
      await ask(.move(key), failsAt) {
        await history.move(to: index < 0 ? nil : entries[index].id).ended()
      }
    case .clear:
      reference.clear()
      await record { history.clear() }
    case .limit(let limit):
      self.limit = limit
      reference.setLimit(limit)
      await record { history.limit = limit }
    case .save:
      reference.saved = reference.savePoint()
      await record { history.save() }
    case .breakMerging:
      reference.lastRecording = nil
      history.breakMerging()
    }
    await history.idle()
  }

  private func record(_ change: () -> Void) async {
    moments.append(Moment(layout: reference.state[0], document: reference.effects.map(\.number)))
    change()
  }

  private func ask<Outcome>(
    _ ask: ReferenceHistory.Ask, _ failsAt: Int, _ body: () async -> Outcome
  ) async {
    _ = reference.ask(ask)
    var action = 0
    tell(failsAt, &action)
    moments.append(Moment(layout: reference.state[0], document: reference.effects.map(\.number)))
    paper.fail(at: failsAt)
    _ = await body()
    paper.fail(at: 0)
  }

  /// Executes a group that is held open, part by part.
  private func drag(
    _ texts: [String], _ isCancelled: Bool, _ failsAt: Int, _ history: UseCaseHistory
  ) async {
    let id = reference.openGroup("H")
    var action = 0
    for text in texts {
      _ = reference.execute(text, in: id)
      tell(failsAt, &action)
    }
    if isCancelled { reference.cancelGroup(id) } else { reference.close(id) }
    tell(failsAt, &action)
    moments.append(Moment(layout: reference.state[0], document: reference.effects.map(\.number)))
    paper.fail(at: failsAt)
    let group = history.openGroup("H")
    for text in texts { await group.execute(Write(paper: paper), text).ended() }
    if isCancelled { group.cancel() }
    await group.close().ended()
    paper.fail(at: 0)
  }

  /// All actions succeed, but for one.
  private func tell(_ failsAt: Int, _ action: inout Int) {
    while reference.isActing {
      action += 1
      reference.tell(action == failsAt ? .failure : .success)
    }
  }

  private static let keys: [Character] = ["x", "y", "z"]

  private func text() -> String {
    texts += 1
    var random = SeededGenerator(seed: UInt64(texts))
    return "e\(texts)_" + (["", "", "@x", "@y", "@xz"].randomElement(using: &random) ?? "")
  }

  // MARK: After the crash

  private func reopen(_ step: Step?, crashingAgainAt write: Int) async throws {
    paper.settle(by: settling)
    var disk = disk.next()
    let interruption: HistoryInterruption = write == 2 ? .keep : .compensate
    if write > 0 {
      disk.fail(.crash(at: write, isWritten: write.isMultiple(of: 2)))
      _ = try? await open(disk, interrupted: interruption)
      disk = disk.next()
    }
    let history = try await open(disk, interrupted: interruption)
    await history.idle()
    if settling == .truth {
      try compare(history, after: step, interruption)
      if isInDatabase { try check([], paper.asked.elements, "settle is asked") }
      try checkDiscards(history)
    }
    try await goOn(history)
  }

  /// It is as before the step, or as behind it: that depends on whether the document has changed.
  private func compare(
    _ history: UseCaseHistory, after step: Step?, _ interruption: HistoryInterruption
  ) throws {
    let (before, after) = (moments[max(0, moments.count - 2)], moments[moments.count - 1])
    let document = paper.lines.value
    func same(_ moment: Moment) -> Bool { strip(history.layout) == strip(moment.layout) }
    switch step {
    case nil, .clear, .limit, .save, .breakMerging:
      if !same(before), !same(after) { throw difference(history, [before, after]) }
    case .write, .undo, .redo, .undoIn, .redoIn:
      // A group is undone and redone part by part.
      if document == after.document, before.document != after.document {
        if !same(after) { throw difference(history, [after]) }
      } else if document == before.document, !same(before) {
        throw difference(history, [before])
      }
    case .letter:
      if isInDatabase, document == after.document, before.document != document, !same(after) {
        throw difference(history, [after])
      }
      // A letter that would have merged is an entry of its own when its end was not written.
      if document == before.document, !same(before) { throw difference(history, [before]) }
    case .group, .drag:
      if interruption == .compensate, document == before.document, !same(before), !same(after) {
        throw difference(history, [before, after])
      }
    case .move: break
    }
    if history.state.isClean,
      !moments.contains(where: { $0.layout.hasSuffix("*") && $0.document == document })
    {
      throw Difference(
        description:
          "clean: \(history.layout), \(document) \(moments.map { "\($0.layout) \($0.document)" })")
    }
  }

  private func strip(_ layout: String) -> String { layout.replacing("*", with: "") }

  private func difference(_ history: UseCaseHistory, _ moments: [Moment]) -> Difference {
    Difference(
      description: "\(history.layout) with \(paper.lines.value), but expected "
        + moments.map { "\($0.layout) with \($0.document)" }.joined(separator: " or "))
  }

  /// Each step that was written and is not in the history has been discarded, and nothing else has.
  private func checkDiscards(_ history: UseCaseHistory) throws {
    let present = Set(leaves(history.entries))
    for number in 1..<max(1, paper.last + 1) {
      guard let text = paper.text(number), text.hasPrefix("e"), paper.newest(text) == number
      else { continue }
      let isGone = paper.gone.value.contains(number)
      try check(present.contains(text), !isGone, "\(text)\(number) is there")
    }
  }

  private func leaves(_ entries: [HistoryEntry]) -> [String] {
    entries.flatMap { $0.children.isEmpty ? [$0.title] : leaves($0.children) }
  }

  /// All can be undone and redone, and new things done.
  private func goOn(_ history: UseCaseHistory) async throws {
    let (count, lines) = (history.state.undoCount, paper.lines.value.count)
    let layout = history.layout
    await history.move(to: nil).ended()
    try check(0, history.state.undoCount, "all is undone of \(layout)")
    while history.state.canRedo, history.state.undoCount < count { await history.forth(1) }
    if settling == .truth {
      try check([], paper.violations.elements, "violations")
      // A redo of a group that was half undone does more than there was.
      let isPartial = layout.count { $0 == "|" } > 1
      let count = paper.lines.value.count
      try check(true, isPartial ? count >= lines : count == lines, "lines \(layout)")
    }
    await history.write(paper, "Z")
    guard case .some = history.entries.last(where: { $0.title == "Z" }) else {
      if limit == 0 { return }
      throw Difference(description: "nothing is recorded: \(history.layout)")
    }
    history.clear()
    await history.idle()
    try check(nil, history.journalError.map { "\($0)" }, "the journal")
  }

  private func check<Value: Equatable>(_ expected: Value, _ actual: Value, _ what: String) throws {
    guard expected != actual else { return }
    throw Difference(description: "\(what): \(actual), but expected: \(expected)")
  }
}
