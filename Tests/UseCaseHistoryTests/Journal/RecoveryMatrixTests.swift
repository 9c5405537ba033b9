import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

/// Each way in which a process can end × where it ends × what `settle` knows × how the recovery fares,
/// over four launches.
///
/// The document and the history agree after each, or the entry says that it was interrupted.
@Suite(.mustEnd)
struct RecoveryMatrixTests {
  @Test(
    .holds("Crashes", "Interrupted groups", "Interrupted"), arguments: Interrupted.allCases,
    Steps.allCases)
  func `after each launch, the document and the history agree, or the entry is interrupted`(
    interrupted: Interrupted, steps: Steps
  ) async throws {
    // A failure of `settle` is as good as an unknown answer.
    let settlings: [Paper.Settling] =
      switch steps {
      case .work: [.truth, .unknown, .failure]
      case .fail: [.truth, .unknown]
      case .hang, .endProcess: [.truth]
      }
    for settling in settlings {
      try await endEverywhere { RecoveryCase(interrupted, steps, settling, $0, on: { $0 }) }
    }
  }

  @Test(
    .holds("Interrupted groups", "One transaction"), arguments: Interrupted.allCases, Steps.allCases
  )
  func `in transactions they agree after each launch, and nothing is in doubt`(
    interrupted: Interrupted, steps: Steps
  ) async throws {
    try await endEverywhere { interruption in
      let paper = Paper()
      return RecoveryCase(
        interrupted, steps, .truth, interruption, paper, on: { Database($0, paper) })
    }
  }

  /// Lets the process end at each write of the last act, which is there or is not.
  private func endEverywhere(
    _ matrix: (HistoryInterruption) -> RecoveryCase
  ) async throws {
    for interruption in [HistoryInterruption.compensate, .keep] {
      for isWritten in [false, true] {
        for write in 1... {
          let matrix = matrix(interruption)
          guard try await matrix.run(crashingAt: write, isWritten: isWritten) else { break }
        }
      }
    }
  }
}

/// The last act of the first process.
enum Interrupted: CaseIterable {
  case execution, undo, redo, jumpBack, jumpForth
  case group, nested, open, rollBack, openRollBack
  case groupUndo, groupRedo, nestedUndo, nestedRedo

  var isRedo: Bool { [.redo, .jumpForth, .groupRedo, .nestedRedo].contains(self) }

  func prepare(_ history: UseCaseHistory, _ paper: Paper) async {
    await history.write(paper, "Z")
    switch self {
    case .execution, .group, .nested, .open, .rollBack, .openRollBack: break
    case .undo, .jumpBack, .redo, .jumpForth: await history.write(paper, "A", "B")
    case .groupUndo, .groupRedo: await group(history, paper)
    case .nestedUndo, .nestedRedo: await nested(history, paper)
    }
    switch self {
    case .redo, .groupRedo, .nestedRedo: await history.back(1)
    case .jumpForth: await history.move(to: nil).ended()
    default: break
    }
  }

  func act(_ history: UseCaseHistory, _ paper: Paper) async {
    switch self {
    case .execution: await history.write(paper, "A")
    case .undo, .groupUndo, .nestedUndo: await history.undo().ended()
    case .redo, .groupRedo, .nestedRedo: await history.redo().ended()
    case .jumpBack: await history.move(to: nil).ended()
    case .jumpForth:
      if let last = history.entries.last { await history.move(to: last.id).ended() }
    case .group: await group(history, paper)
    case .nested: await nested(history, paper)
    case .rollBack: await nested(history, paper, failing: true)
    case .open, .openRollBack:
      let group = history.openGroup("G")
      for text in ["A", "B"] { await group.execute(Write(paper: paper), text).ended() }
      if self == .openRollBack { group.cancel() }
      await group.close().ended()
    }
  }

  private func group(_ history: UseCaseHistory, _ paper: Paper) async {
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") {
      _ = try await write("A")
      _ = try await write("B")
    }.ended()
  }

  private func nested(
    _ history: UseCaseHistory, _ paper: Paper, failing fails: Bool = false
  ) async {
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") {
      _ = try await write("A")
      try await history.group("H") {
        _ = try await write("B")
        _ = try await write("C")
      }.value
      if fails { throw Failure("G") }
    }.ended()
  }
}

/// The fate of the steps of a recovery, at each of the first launches.
enum Steps: CaseIterable {
  case work, fail, hang, endProcess
}

private struct RecoveryCase {
  private let interrupted: Interrupted
  private let steps: Steps
  private let settling: Paper.Settling
  private let interruption: HistoryInterruption
  private let paper: Paper
  private let journal: (Disk) -> any HistoryJournal

  init(
    _ interrupted: Interrupted, _ steps: Steps, _ settling: Paper.Settling,
    _ interruption: HistoryInterruption, _ paper: Paper = Paper(),
    on journal: @escaping (Disk) -> any HistoryJournal
  ) {
    (self.interrupted, self.steps) = (interrupted, steps)
    (self.settling, self.interruption) = (settling, interruption)
    (self.paper, self.journal) = (paper, journal)
  }

  private func open(
    _ disk: Disk, interrupted: HistoryInterruption = .compensate,
    timeout: Duration = UseCaseTimeout.never, clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> UseCaseHistory {
    paper.live(with: disk)
    return try await UseCaseHistory.open(
      journal(disk), for: [Write(paper: paper, timeout: timeout)], interrupted: interrupted,
      clock: clock)
  }

  /// Returns false if the last act has no such write.
  func run(crashingAt write: Int, isWritten: Bool) async throws -> Bool {
    var disk = Disk()
    let history = try await open(disk)
    await interrupted.prepare(history, paper)
    await history.idle()
    disk.fail(.crash(at: disk.writes + write, isWritten: isWritten))
    await interrupted.act(history, paper)
    await history.idle()
    guard disk.isDead else { return false }
    let place = "\(self), write \(write), \(isWritten ? "written" : "not written")"

    paper.settle(by: settling)
    var lost = 0
    for launch in 1...4 {
      disk = disk.next()
      let begun = paper.undos
      let launched = try await self.launch(disk)
      let tried = paper.undos - begun
      if let history = launched.history {
        try check(history, "\(place), launch \(launch)")
        if lost >= 2, steps == .endProcess || steps == .hang {
          try #require(tried == 0, "tried too often: \(place), launch \(launch)")
          let errors = history.recovery.failed.map { "\($0.error)" }
          let saysSo = errors.contains { $0.contains("ended twice") }
          try #require(interruption == .keep || saysSo, "\(place), launch \(launch): \(errors)")
        }
      } else {
        try #require(steps == .endProcess, "did not open: \(place), launch \(launch)")
      }
      if tried > 0 { lost += 1 }
      // The process ends, and nothing comes back of what hangs.
      let next = disk.next()
      disk.kill()
      launched.gate.open()
      await launched.history?.idle()
      disk = next
    }
    paper.direct(nil)
    try await goOn(disk, place)
    return true
  }

  private func launch(_ disk: Disk) async throws -> (history: UseCaseHistory?, gate: Gate) {
    let (gate, clock) = (Gate(), ManualClock())
    let steps = steps
    paper.direct { action in
      guard action.hasPrefix("undo") else { return }
      switch steps {
      case .work: return
      case .fail: throw Failure(action)
      case .hang:
        try await clock.sleeping(for: .seconds(1))
        await clock.advance(by: .seconds(1))
        await gate.passIgnoringCancellation()
      case .endProcess: disk.kill()
      }
    }
    do {
      let history = try await open(
        disk, interrupted: interruption,
        timeout: steps == .hang ? .seconds(1) : UseCaseTimeout.never, clock: clock)
      return (disk.isDead ? nil : history, gate)
    } catch {
      if !disk.isDead { throw error }
      return (nil, gate)
    }
  }

  /// The invariant: each line is that of an applied entry, and the other way round.
  private func agree(_ history: UseCaseHistory, _ place: String) throws {
    let leaves = history.entries.flatMap(\.executions)
    let doubted = leaves.filter { $0.standing == .inDoubt }.map(\.title)
    let applied = leaves.filter { $0.isApplied && !doubted.contains($0.title) }.map(\.title)
    let lines = paper.lineTexts.filter { !doubted.contains($0) }
    let layout = "\(history.layout) with \(paper.lines.value), \(place)"
    try #require(applied.sorted() == lines.sorted(), "\(layout)")
    try #require(Set(leaves.map(\.title)).count == leaves.count, "\(layout)")
    for entry in history.entries where entry.isPartial {
      try #require(entry.standing != .normal, "\(layout)")
    }
    if settling == .truth { try #require(paper.violations.elements == [], "\(layout)") }
  }

  /// The report on the opening names each entry that is not as it should be.
  private func check(_ history: UseCaseHistory, _ place: String) throws {
    try agree(history, place)
    let (entries, recovery) = (history.entries, history.recovery)
    let layout = "\(history.layout), \(place)"
    let doubted = entries.filter { $0.standing == .inDoubt }.map(\.id)
    try #require(recovery.inDoubt.map(\.id) == doubted, "\(layout)")
    if journal(Disk()) is Database {
      try #require(doubted.isEmpty && paper.asked.count == 0, "\(layout)")
    }
    for failure in recovery.failed {
      let entry = entries.first { $0.id == failure.id }
      try #require(entry != nil && entry?.standing != .normal, "\(layout): \(failure)")
    }
    // An interrupted redo is not recovered, so the report does not name it.
    if interruption == .keep || interrupted.isRedo { return }
    let failed = recovery.failed.map(\.id)
    for entry in entries where entry.standing == .interrupted {
      try #require(failed.contains(entry.id), "\(layout)")
    }
  }

  /// All that is left can be finished, undone and redone, and new things done.
  private func goOn(_ disk: Disk, _ place: String) async throws {
    let history = try await open(disk, interrupted: .keep)
    try agree(history, "\(place), the last launch")
    for entry in history.entries.reversed() where entry.standing == .interrupted {
      if interrupted.isRedo {
        await history.redo(entry.id).ended()
        let redone = history.entries.first { $0.id == entry.id }
        try #require(redone?.isPartial == false && redone?.standing == .normal, "\(place)")
      } else {
        let outcome = await history.undo(entry.id).ended()
        try #require(outcome.value != nil, "\(place): \(outcome)")
      }
      try agree(history, "\(place), after the recovery by the app")
    }
    await history.move(to: nil).ended()
    try #require(history.state.undoCount == 0, "\(place): \(history.layout)")
    try agree(history, "\(place), all undone")
    await history.write(paper, "Y")
    try #require(history.layout.contains("Y |"), "\(place): \(history.layout)")
    // An entry in doubt has left with the branch, and its line may be there.
    if settling == .truth { try agree(history, "\(place), at the end") }
    try #require(history.journalError == nil, "\(place)")
  }
}

extension Paper {
  /// The texts of the lines.
  fileprivate var lineTexts: [String] { lines.value.map { text($0) ?? "?" } }
}

extension HistoryEntry {
  fileprivate var executions: [HistoryEntry] {
    children.isEmpty ? [self] : children.flatMap(\.executions)
  }
}
