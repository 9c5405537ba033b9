import TestSupport
import UseCaseHistory

/// A database in memory with the document and the journal. A transaction that fails leaves both as
/// they were.
final class Database: TransactionalJournal {
  /// The steps of a transaction. The disk counts the begin and the commit as writes.
  enum Step: String, Sendable, CaseIterable { case begin, body, append, commit }

  struct Failed: Error, Equatable { let step: Step }

  /// The error of a library that wraps those of closures.
  struct Wrapped: Error { let error: any Error }

  /// How the database deals with the body.
  enum Manner: Sendable { case once, wrapping, swallowing, twice, never }

  let disk: Disk
  private let paper: Paper
  /// The calls, in order.
  let calls = Log<String>()
  let violations = Log<String>()
  private let isOpen = Watched(false)
  private let failing = Watched<Step?>(nil)
  private let manner = Watched(Manner.once)

  init(_ disk: Disk, _ paper: Paper) { (self.disk, self.paper) = (disk, paper) }

  var coder: any HistoryCoder { disk.coder }

  /// The step of each transaction that fails from now on.
  func fail(at step: Step?) { failing.update { $0 = step } }
  func behave(_ manner: Manner) { self.manner.update { $0 = manner } }

  func read() async throws -> HistoryRows { try await call("read") { try await disk.read() } }

  func write(_ change: HistoryChange) async throws {
    try await call("write") { try await disk.write(change) }
  }

  func transaction(_ body: @Sendable () async throws -> HistoryChange) async throws {
    try await call("transaction") {
      isOpen.update { $0 = true }
      let before = paper.contents
      do {
        try check(.begin)
        try await disk.write(nil) { _ in }
        let record = try await run(body)
        try check(.append)
        try check(.commit)
        guard let record else { return isOpen.update { $0 = false } }
        try await disk.write(record)
        isOpen.update { $0 = false }
      } catch {
        // If the process has ended, the write with which it did so may be there.
        if !disk.wroteLast { paper.restore(before) }
        isOpen.update { $0 = false }
        throw error
      }
    }
  }

  private func run(
    _ body: @Sendable () async throws -> HistoryChange
  ) async throws -> HistoryChange? {
    switch manner.value {
    case .never: return nil
    case .once: return try await checked(body)
    case .wrapping:
      do { return try await checked(body) } catch { throw Wrapped(error: error) }
    case .swallowing:
      do { return try await checked(body) } catch { return nil }
    case .twice:
      _ = try await checked(body)
      return try await checked(body)
    }
  }

  private func checked(
    _ body: @Sendable () async throws -> HistoryChange
  ) async throws -> HistoryChange {
    let record = try await body()
    try check(.body)
    return record
  }

  private func check(_ step: Step) throws {
    if failing.value == step { throw Failed(step: step) }
  }

  private func call<Value>(_ name: String, _ body: () async throws -> Value) async throws -> Value {
    calls.append(name)
    if isOpen.value { violations.append("\(name) in a transaction") }
    return try await body()
  }
}

extension UseCaseHistory {
  static func open(
    _ database: Database, _ paper: Paper, interrupted: HistoryInterruption = .compensate,
    limit: Int? = nil
  ) async throws -> UseCaseHistory {
    paper.live(with: database.disk)
    return try await open(
      database, for: [Write(paper: paper), Letters(paper: paper), Tag(paper: paper)],
      interrupted: interrupted, limit: limit, mergeWindow: .seconds(3_600))
  }
}
