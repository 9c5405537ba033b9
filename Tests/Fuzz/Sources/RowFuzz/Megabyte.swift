import Foundation
import UseCase
import UseCaseHistory
import UseCaseJournal

/// A journal file of a megabyte.
enum Megabyte: CaseIterable {
  case oneRow, smallRows, footprints, undone, leaving, leavingLater, unreadable, unknownLeaving
  case effects, effectsBelow, effectsBelowDoubts, effectsOverUndone, undosBelow
  case noEffects, doubts, inDoubt
  case oneGroup, groupThatRan, smallGroups, interruptedGroups, nested, recoverable

  private struct Table {
    private(set) var rows: [HistoryChange.Row] = [
      HistoryChange.Row(key: 0, bytes: [2, 0, 0, 1, 0, 0, 0, 0])
    ]
    private(set) var size = 0
    var isFull: Bool { size >= 1 << 20 }
    var last: UInt64 { UInt64(rows.count - 1) }

    @discardableResult
    mutating func add(
      state: UInt8 = 1, marks: UInt8 = 0, in parent: UInt64 = 0, _ text: String = "1",
      name: String = "note", response: String? = "1", stamp: UInt64? = nil
    ) -> UInt64 {
      var row = RowFields()
      (row.state, row.marks, row.parent) = (state, marks, parent)
      let id = UInt64(rows.count)
      row.stamp = stamp ?? id
      row.rest =
        marks & 1 == 1
        ? RowFields.title("\"g\"")
        : RowFields.payload(
          "\"t\"", name, request: Array("\"\(text)\"".utf8),
          response: response.map { Array($0.utf8) })
      rows.append(HistoryChange.Row(key: Int64(id), bytes: row.bytes))
      size += 28 + row.bytes.count
      return id
    }
  }

  private var rows: [HistoryChange.Row] {
    var table = Table()
    switch self {
    case .oneRow: table.add(String(repeating: "a", count: 1 << 20))
    case .smallRows: while !table.isFull { table.add() }
    case .footprints: while !table.isFull { table.add(marks: 32, "\(table.last)") }
    case .undone: while !table.isFull { table.add(state: 3, marks: 32) }
    case .leaving: while !table.isFull { table.add(state: 5) }
    case .leavingLater: while !table.isFull { table.add(marks: 16) }
    case .unreadable: while !table.isFull { table.add(name: "x") }
    case .unknownLeaving: while !table.isFull { table.add(state: 5, name: "x") }
    case .effects: while !table.isFull { table.add(state: 0, "2", response: nil) }
    case .effectsBelow:
      while !table.isFull {
        table.add(
          state: table.size < 1 << 19 ? 0 : 1, "2", response: table.size < 1 << 19 ? nil : "1")
      }
    case .effectsBelowDoubts:
      while !table.isFull {
        table.add(state: 0, table.size < 1 << 19 ? "2" : "1", response: nil)
      }
    case .effectsOverUndone:
      while table.size < 1 << 19 { table.add(state: 3, marks: 32) }
      while !table.isFull { table.add(state: 0, "2", response: nil) }
    case .undosBelow:
      while table.size < 1 << 19 { table.add(state: 2, marks: 32, "2") }
      while !table.isFull { table.add(marks: 32) }
    case .noEffects: while !table.isFull { table.add(state: 0, "3", response: nil) }
    case .doubts: while !table.isFull { table.add(state: 0, "1", response: nil) }
    case .inDoubt: while !table.isFull { table.add(state: 0, marks: 2, response: nil) }
    case .oneGroup:
      let group = table.add(marks: 1)
      while !table.isFull { table.add(in: group) }
    case .groupThatRan:
      let group = table.add(state: 0, marks: 1)
      while !table.isFull { table.add(in: group) }
    case .smallGroups: while !table.isFull { table.add(in: table.add(marks: 1)) }
    case .interruptedGroups:
      while !table.isFull {
        let group = table.add(marks: 69)
        table.add(in: group)
        table.add(state: 3, in: group)
      }
    case .recoverable:
      while !table.isFull {
        let group = table.add(marks: 5)
        table.add(in: group)
        table.add(state: 3, in: group)
      }
    case .nested:
      while !table.isFull {
        var group = table.add(marks: 1)
        for _ in 1...1_000 where !table.isFull { group = table.add(marks: 1, in: group) }
        table.add(in: group)
      }
    }
    return table.rows
  }

  /// Opens it in another process, and prints what that takes. Returns whether that is not too much.
  func measure() async throws -> Bool {
    let url = FileManager.default.temporaryDirectory.appending(path: "rows-\(UUID()).journal")
    defer { try? FileManager.default.removeItem(at: url) }
    var isGood = true
    for way in ["keep", "compensate"] {
      try? FileManager.default.removeItem(at: url)
      let journal = try FileJournal(at: url)
      try await journal.write(HistoryChange(version: 0, rows: rows))
      await journal.close()
      print("\(self), \(way): ", terminator: "")
      fflush(nil)
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      process.arguments = ["open", way, url.path]
      try process.run()
      process.waitUntilExit()
      isGood = isGood && process.terminationStatus == 0
    }
    return isGood
  }

  static func open(_ file: URL, isKept: Bool) async throws {
    // What the process itself takes is there before.
    _ = try await UseCaseHistory.open(
      FileJournal(at: file.appendingPathExtension("empty")), for: [HostileNote()])
    try FileManager.default.removeItem(at: file.appendingPathExtension("empty"))
    let bytes = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    let (start, before) = (clock(), memory())
    var answer = ""
    do {
      let history = try await UseCaseHistory.open(
        FileJournal(at: file), for: [HostileNote()], interrupted: isKept ? .keep : .compensate)
      answer = "opened, \(history.state.undoCount) to undo"
    } catch let error as HistoryJournalError {
      answer = "\(error.reason)"
    }
    // Of the processor: others may use it, too.
    let time = Duration.microseconds((clock() - start) * 1_000_000 / Int(CLOCKS_PER_SEC))
    let more = memory() - before
    let times = Double(more * 10 / bytes) / 10
    print("\(bytes) bytes, \(answer), \(time), \(times) times its bytes")
    if time > .seconds(1) || more > 40 * bytes { exit(1) }
  }

  /// The most memory that the process has had, on Linux.
  private static func memory() -> Int {
    let words = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = words.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropLast().last).flatMap { Int($0) }.map { $0 << 10 } ?? 0
  }
}
