import TestSupport
import UseCase
import UseCaseHistory
import UseCaseJournal

/// A journal in memory. It can crash at a write, after which it is as the next process finds it.
final class Disk: HistoryJournal {
  struct Crash: Error {}
  struct Full: Error {}

  enum Fault: Sendable {
    case none
    /// The process ends at the write with this number. Its change is there, or it is not.
    case crash(at: Int, isWritten: Bool)
    /// This many writes fail. Their changes are there, or they are not.
    case full(from: Int, count: Int, isWritten: Bool)
  }

  struct State: Sendable {
    var rows = HistoryRows()
    var changes: [HistoryChange] = []
    var writes = 0
    var fault = Fault.none
    var isDead = false
    /// Whether the last write is there, although it failed.
    var wroteLast = false

    mutating func make(_ change: HistoryChange) {
      changes.append(change)
      rows.version = change.version + 1
      for row in change.rows { rows.rows[row.key] = row.bytes }
    }
  }

  let coder: any HistoryCoder
  private let state = Watched(State())
  private let gate = Watched<Gate?>(nil)
  private let canRead = Watched(true)
  /// Is called at each write, with its number.
  private let watcher = Watched<(@Sendable (Int) async -> Void)?>(nil)

  init(_ rows: HistoryRows = HistoryRows(), coder: any HistoryCoder = JSONHistoryCoder()) {
    self.coder = coder
    state.update { $0.rows = rows }
  }

  var rows: HistoryRows { state.value.rows }
  var changes: [HistoryChange] { state.value.changes }
  var bytes: Int { rows.rows.values.reduce(0) { $0 + $1.count } }
  var writes: Int { state.value.writes }
  var isDead: Bool { state.value.isDead }
  var wroteLast: Bool { state.value.wroteLast }

  /// Whether reads succeed from now on.
  func reads(_ canRead: Bool) { self.canRead.update { $0 = canRead } }
  func kill() { state.update { $0.isDead = true } }
  func fail(_ fault: Fault) { state.update { $0.fault = fault } }
  func watch(_ body: @escaping @Sendable (Int) async -> Void) { watcher.update { $0 = body } }

  /// Holds all writes from now on.
  func hold() -> Gate {
    let gate = Gate()
    self.gate.update { $0 = gate }
    return gate
  }

  /// Returns the disk as the next process finds it.
  func next() -> Disk { Disk(rows, coder: coder) }

  func read() async throws -> HistoryRows {
    guard canRead.value else { throw Full() }
    return rows
  }

  func write(_ change: HistoryChange) async throws {
    try await write(change.version) { $0.make(change) }
  }

  func write(_ version: Int64?, _ body: @Sendable (inout State) -> Void) async throws {
    await gate.value?.passIgnoringCancellation()
    await watcher.value?(state.value.writes + 1)
    let error: (any Error)? = state.update { state in
      if let version, version != state.rows.version { return HistoryJournalError(.stale) }
      state.writes += 1
      state.wroteLast = false
      if state.isDead { return Crash() }
      switch state.fault {
      case .crash(state.writes, let isWritten):
        if isWritten { body(&state) }
        (state.isDead, state.wroteLast) = (true, isWritten)
        return Crash()
      case .full(let first, let count, let isWritten)
      where (first..<first + count).contains(state.writes):
        if isWritten { body(&state) }
        state.wroteLast = isWritten
        return Full()
      case .none, .crash, .full:
        body(&state)
        return nil
      }
    }
    if let error { throw error }
  }
}

struct StoredAnswer: Codable, Hashable, Sendable {
  let number: Int
  /// The lines that were written, by the numbers of their first answers.
  let lines: [Int]

  init(_ number: Int, lines: [Int]? = nil) {
    (self.number, self.lines) = (number, lines ?? [number])
  }
}

/// The document: it survives the process, and ends with it when its disk does.
final class Paper: Sendable {
  let log = Log<String>()
  /// For which entries `settle` was asked.
  let asked = Log<HistoryEntry.ID?>()
  let lines = Watched<[Int]>([])
  private let texts = Watched<[Int: String]>([:])
  /// The last answer to each entry, as a server would know it.
  private let answers = Watched<[HistoryEntry.ID: StoredAnswer]>([:])
  /// Acts that should never happen: an undo of what is not there, or of what was discarded.
  let violations = Log<String>()
  private let countdown = Watched(0)
  private let failing = Watched<Set<String>>([])
  private let gates = Watched<[String: Gate]>([:])
  private let scripts = Watched<[String: @Sendable () async throws -> Void]>([:])
  private let director = Watched<(@Sendable (String) async throws -> Void)?>(nil)
  private let settlements = Watched<Settling>(.truth)
  private let lastNumber = Watched(0)
  let gone = Watched<Set<Int>>([])
  private let disk = Watched<Disk?>(nil)

  enum Settling { case truth, unknown, failure }

  func live(with disk: Disk) { self.disk.update { $0 = disk } }
  func fail(_ action: String) { failing.update { _ = $0.insert(action) } }
  func repair(_ action: String) { failing.update { _ = $0.remove(action) } }
  func settle(by settling: Settling) { settlements.update { $0 = settling } }
  var settling: Settling { settlements.value }

  /// The action with this number from now on fails.
  func fail(at number: Int) { countdown.update { $0 = number } }

  func hold(_ action: String) -> Gate {
    let gate = Gate()
    gates.update { $0[action] = gate }
    return gate
  }

  func script(_ action: String, _ body: @escaping @Sendable () async throws -> Void) {
    scripts.update { $0[action] = body }
  }

  /// From now on each action does this as well.
  func direct(_ body: (@Sendable (String) async throws -> Void)?) {
    director.update { $0 = body }
  }

  func began(_ action: String) async {
    var count = 1
    while !log.elements.contains(action) { count = await log.elements(atLeast: count).count + 1 }
  }

  private func act(_ action: String) async throws {
    log.append(action)
    if countdown.update({
      $0 -= 1; return $0
    }) == 0 {
      throw Failure(action)
    }
    await gates.value[action]?.passIgnoringCancellation()
    try await scripts.value[action]?()
    try await director.value?(action)
    if failing.value.contains(action) || disk.value?.isDead == true { throw Failure(action) }
  }

  /// Writes a line, or those of an earlier answer again.
  func add(
    _ action: String, _ text: String, again: StoredAnswer? = nil
  ) async throws -> StoredAnswer {
    try await act(action)
    let number = lastNumber.update {
      $0 += 1
      return $0
    }
    let answer = StoredAnswer(number, lines: again?.lines)
    lines.update { $0 += answer.lines }
    texts.update { $0[number] = text }
    if let entry = HistoryEntry.ID.current { answers.update { $0[entry] = answer } }
    return answer
  }

  func text(_ number: Int) -> String? { texts.value[number] }

  /// The last number that was given to this text.
  func newest(_ text: String) -> Int? { texts.value.filter { $0.value == text }.keys.max() }

  func remove(_ action: String, _ answer: StoredAnswer) async throws {
    try await act(action)
    if gone.value.contains(answer.number) { violations.append("\(action), which was discarded") }
    if !lines.value.contains(answer.lines[0]) {
      violations.append("\(action), which is not there")
    }
    lines.update { $0.removeAll { answer.lines.contains($0) } }
  }

  /// How many undos have begun.
  var undos: Int { log.elements.count { $0.hasPrefix("undo") } }

  /// The discarded steps, with the reasons.
  var discarded: [String] {
    log.elements.filter { $0.hasPrefix("discard ") }.map { String($0.dropFirst(8)) }
  }

  func discard(_ text: String, _ answer: StoredAnswer, _ reason: HistoryDiscardReason) {
    if disk.value?.isDead == true { return }
    log.append("discard \(text)\(answer.number) \(reason)")
    // Its answer lives on in the entry that it went into.
    if reason != .merged { gone.update { _ = $0.insert(answer.number) } }
    if reason == .annulled { lines.update { $0.removeAll { answer.lines.contains($0) } } }
  }

  var last: Int { lastNumber.value }
}

// MARK: - In a database

extension Paper {
  struct Contents: Sendable {
    let lines: [Int]
    let texts: [Int: String]
    let answers: [HistoryEntry.ID: StoredAnswer]
  }

  /// The contents that a failed transaction has to restore.
  var contents: Contents {
    Contents(lines: lines.value, texts: texts.value, answers: answers.value)
  }

  func restore(_ contents: Contents) {
    lines.update { $0 = contents.lines }
    texts.update { $0 = contents.texts }
    answers.update { $0 = contents.answers }
  }
}

/// Writes a line. Its settle looks at the paper. `A` touches everything, and `A@xy` x and y.
struct Write: JournaledUseCase {
  static let journalName = "write"
  let paper: Paper
  var timeout = UseCaseTimeout.never
  var queue = UseCaseQueue.default

  func main(_ text: String) async throws -> StoredAnswer {
    try await paper.add("do \(name(text))", name(text))
  }

  func undo(_ text: String, _ answer: StoredAnswer) async throws {
    try await paper.remove("undo \(name(text))\(answer.number)", answer)
  }

  func redo(_ text: String, _ answer: StoredAnswer) async throws -> StoredAnswer {
    try await paper.add("redo \(name(text))\(answer.number)", name(text), again: answer)
  }

  func title(for text: String) -> String { name(text) }

  func footprint(of text: String) -> HistoryFootprint? {
    guard let at = text.firstIndex(of: "@") else { return nil }
    return .keys(text[text.index(after: at)...].map { String($0) })
  }

  private func name(_ text: String) -> String { String(text.prefix { $0 != "@" }) }

  func discard(_ text: String, _ answer: StoredAnswer, _ reason: HistoryDiscardReason) {
    paper.discard(name(text), answer, reason)
  }

  func settle(
    _ doubt: HistoryDoubt<String, StoredAnswer>
  ) async throws -> HistorySettlement<StoredAnswer> { try paper.settle(doubt) }
}

/// Letters, which merge: lowercase ones into one, and a pair of `x` and `X` into nothing.
struct Letters: JournaledUseCase, Equatable {
  static let journalName = "letters"
  let paper: Paper

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.paper === rhs.paper }

  func main(_ text: String) async throws -> StoredAnswer { try await paper.add("do \(text)", text) }

  func undo(_ text: String, _ answer: StoredAnswer) async throws {
    try await paper.remove("undo \(text)\(answer.number)", answer)
  }

  func redo(_ text: String, _ answer: StoredAnswer) async throws -> StoredAnswer {
    try await paper.add("do \(text)", text, again: answer)
  }

  func title(for text: String) -> String { text }

  func merge(
    _ earlier: (request: String, response: StoredAnswer),
    _ later: (request: String, response: StoredAnswer)
  ) -> HistoryMerge<String, StoredAnswer> {
    if earlier.request.uppercased() == later.request { return .annul }
    guard later.request == later.request.lowercased() else { return .separate }
    let lines = earlier.response.lines + later.response.lines
    return .merged(
      earlier.request + later.request, StoredAnswer(later.response.number, lines: lines))
  }

  func discard(_ text: String, _ answer: StoredAnswer, _ reason: HistoryDiscardReason) {
    paper.discard(text, answer, reason)
  }

  func settle(
    _ doubt: HistoryDoubt<String, StoredAnswer>
  ) async throws -> HistorySettlement<StoredAnswer> { try paper.settle(doubt) }
}

extension Paper {
  /// Looks at the paper, and tells what an interrupted body did.
  func settle(
    _ doubt: HistoryDoubt<String, StoredAnswer>
  ) throws -> HistorySettlement<StoredAnswer> {
    log.append("settle \(doubt)")
    asked.append(HistoryEntry.ID.current)
    let answer = HistoryEntry.ID.current.flatMap { answers.value[$0] }
    switch settling {
    case .unknown: return .unknown
    case .failure: throw Failure("settle")
    case .truth: break
    }
    switch doubt {
    case .execution: return answer.map { .hadEffect($0) } ?? .hadNoEffect
    case .redo(_, let before):
      guard let answer, lines.value.contains(before.lines[0]) else { return .hadNoEffect }
      return .hadEffect(answer)
    case .undo(_, let answer):
      return lines.value.contains(answer.lines[0]) ? .hadNoEffect : .hadEffect(answer)
    }
  }
}

extension UseCaseHistory {
  static func open(
    _ disk: Disk, _ paper: Paper, interrupted: HistoryInterruption = .compensate, limit: Int? = nil
  ) async throws -> UseCaseHistory {
    paper.live(with: disk)
    return try await open(
      disk, for: [Write(paper: paper), Letters(paper: paper), Tag(paper: paper)],
      interrupted: interrupted, limit: limit, mergeWindow: .seconds(3_600))
  }

  /// Writes the lines one after the other, each to its end.
  @discardableResult
  func write(_ paper: Paper, _ texts: String...) async -> UseCaseOutcome<StoredAnswer>? {
    var outcome: UseCaseOutcome<StoredAnswer>?
    for text in texts { outcome = await execute(Write(paper: paper), text).ended() }
    return outcome
  }
}

extension UseCaseOutcome {
  var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }

  /// The reason of the failure, if it is one of a journal.
  var journalReason: HistoryJournalError.Reason? {
    guard case .failure(let error) = self else { return nil }
    return (error as? HistoryJournalError)?.reason
  }
}

/// A line that has nothing to do with the others. Its undo may find that there is nothing to undo.
struct Tag: JournaledUseCase {
  static let journalName = "tag"
  let paper: Paper

  func main(_ text: String) async throws -> StoredAnswer { try await paper.add("do \(text)", text) }

  func undo(_ text: String, _ answer: StoredAnswer) async throws {
    do {
      try await paper.remove("undo \(text)\(answer.number)", answer)
    } catch {
      throw HistoryObsolete(error)
    }
  }

  func title(for text: String) -> String { text }

  func footprint(of text: String, _: StoredAnswer) -> HistoryFootprint { .keys(text) }

  func discard(_ text: String, _ answer: StoredAnswer, _ reason: HistoryDiscardReason) {
    paper.discard(text, answer, reason)
  }
}
