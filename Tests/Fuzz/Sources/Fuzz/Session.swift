import Dispatch
import Synchronization
import UseCase
import UseCaseHistory

@testable import UseCaseJournal

/// Opens a journal of any bytes, and works with the history that it makes.
///
/// An input is a journal file. A file that opens has to open the same again, and again after some moves.
/// Whatever happens, nothing traps, loops, or takes a great stack.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  Session.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

enum Session {
  static func run(_ file: [UInt8]) {
    guard let rows = rows(of: file) else { return }
    let journal = MemoryJournal(rows)
    let interrupted: HistoryInterruption = file.count.isMultiple(of: 2) ? .compensate : .keep
    let done = DispatchSemaphore(value: 0)
    Task {
      await run(journal, interrupted)
      done.signal()
    }
    done.wait()
  }

  private static func run(_ journal: MemoryJournal, _ interrupted: HistoryInterruption) async {
    guard let first = try? await open(journal, interrupted) else { return }
    let second = await again(first, journal, "after nothing")
    await second.undo().ended()
    let third = await again(second, journal, "after an undo")
    await third.move(to: nil).ended()
    await third.redo().ended()
    if let entry = third.entries.first { third.forget(entry.id) }
    let fourth = await again(third, journal, "after a move")
    await fourth.execute(Note(), "end").ended()
    if let entry = fourth.entries.dropLast().last { await fourth.undo(entry.id).ended() }
    _ = await again(fourth, journal, "after an execution")
  }

  private static func open(
    _ journal: MemoryJournal, _ interrupted: HistoryInterruption = .keep
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(journal, for: [Note()], interrupted: interrupted)
  }

  /// Opens the journal of the history again, as the next launch does.
  private static func again(
    _ history: UseCaseHistory, _ journal: MemoryJournal, _ moment: String
  ) async -> UseCaseHistory {
    await history.idle()
    let before = words(history)
    do {
      let next = try await open(MemoryJournal(journal.rows.withLock { $0 }))
      // The first is for comparison only: the second works on the journal that is looked at later.
      if words(next) != before {
        fatalError("\(moment):\n\(before)\nis another at the next launch:\n\(words(next))")
      }
      return history
    } catch {
      fatalError("\(moment):\n\(before)\ndoes not open at the next launch: \(error)")
    }
  }

  private static func words(_ history: UseCaseHistory) -> String {
    let entries = history.entries.map { words($0, "\n") }.joined()
    return entries + "\n\(history.state.isClean)"
  }

  private static func words(_ entry: HistoryEntry, _ start: String) -> String {
    var (words, rest) = ("", [(entry, start)])
    while let (entry, start) = rest.popLast() {
      words += "\(start)\(entry) \(entry.isApplied) \(entry.standing)"
      rest += entry.children.reversed().map { ($0, start + " ") }
    }
    return words
  }
}

/// A journal in memory.
final class MemoryJournal: HistoryJournal {
  let coder: any HistoryCoder = JSONHistoryCoder()
  let rows: Mutex<HistoryRows>

  init(_ rows: HistoryRows) { self.rows = Mutex(rows) }

  func read() async throws -> HistoryRows { rows.withLock { $0 } }

  func write(_ change: HistoryChange) async throws {
    try rows.withLock { rows in
      guard rows.version == change.version else { throw HistoryJournalError(.stale) }
      rows.version += 1
      for row in change.rows { rows.rows[row.key] = row.bytes }
    }
  }
}

/// The use case of the golden journals. Its answers depend on the request only.
private struct Note: JournaledUseCase {
  struct Failure: Error {}

  static let journalName = "note"

  func main(_ text: String) async throws -> Int { text.count }
  func undo(_ text: String, _: Int) async throws {
    if text.contains("4") { throw Failure() }
    if text.contains("6") { throw HistoryObsolete() }
  }
  func title(for text: String) -> String { text }
  func footprint(of text: String, _: Int) -> HistoryFootprint { .keys(text) }

  func settle(_ doubt: HistoryDoubt<String, Int>) async throws -> HistorySettlement<Int> {
    switch doubt {
    case .execution(let text), .undo(let text, _), .redo(let text, _):
      text.contains("2") ? .hadEffect(1) : text.contains("3") ? .hadNoEffect : .unknown
    }
  }
}
