import Foundation
import UseCaseHistory
import UseCaseJournal

/// A session on a history with a journal, and what a crash at each instant of it leaves, ready to
/// be drawn.
struct CrashedSession: Equatable, Sendable {
  static let name = "journal"
  static let title = "FileJournal"
  static let sentence = Phrase(
    "What was written before a crash is there after it.",
    "Lo que se escribió antes de la caída sigue ahí.")
  static let records = Phrase("writes, in order", "escrituras, en orden")
  static let openings = Phrase("a crash here leaves", "una caída aquí deja")
  static let crash = Phrase("crash: the last write is torn", "caída: la última queda a medias")

  /// One for each record. The last record is torn.
  let rows: [Row]

  struct Row: Equatable, Sendable {
    let record: Record

    /// The entries at the next launch, if the process ends when this has been written.
    let entries: [HistoryEntry]

    /// The titles of the parts that the launch has undone.
    let takenBack: [String]

    /// A remark about the row, for the reader.
    var note: Phrase {
      if takenBack.isEmpty { return Phrase("", "") }
      let titles = takenBack.joined(separator: " ")
      return Phrase("\(titles) is undone", "\(titles) se deshace")
    }
  }

  struct Record: Equatable, Sendable {
    /// Whether it says that a body begins.
    let isIntent: Bool
    let text: Phrase
  }

  enum Fate: Equatable, Sendable {
    case applied, undone, inDoubt, takenBack

    var text: Phrase {
      switch self {
      case .applied: Phrase("applied: it can be undone", "aplicada: se puede deshacer")
      case .undone: Phrase("undone: it can be redone", "deshecha: se puede rehacer")
      case .takenBack:
        Phrase("undone at launch: its group never ended", "deshecha al abrir: su grupo no acabó")
      case .inDoubt:
        Phrase(
          "in doubt: it began, and no end was written",
          "en duda: empezó, y su final no se escribió")
      }
    }
  }

  /// The fates of all executions, after the crash.
  var fates: [(title: String, fate: Fate)] {
    guard let last = rows.last else { return [] }
    let fates = last.entries.map { ($0.title, $0.fate) } + last.takenBack.map { ($0, .takenBack) }
    return fates.sorted { $0.0 < $1.0 }
  }

  /// Writes a real journal, and opens what its file was after each record.
  static func run() async throws -> CrashedSession {
    let folder = FileManager.default.temporaryDirectory.appending(path: "timelines-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    var files = try await JournalScribe.session(in: folder)
    if let torn = files.popLast(), let whole = files.last {
      files.append((torn.record, torn.file.prefix(whole.file.count + 8)))
    }
    var rows: [Row] = []
    for (record, file) in files {
      let url = folder.appending(path: "\(rows.count)")
      try file.write(to: url)
      let journal = try JournalScribe(at: url)
      let history = try await UseCaseHistory.open(journal, for: [Letter(scribe: journal)])
      rows.append(Row(record: record, entries: history.entries, takenBack: journal.undone))
    }
    return CrashedSession(rows: rows)
  }
}

extension HistoryEntry {
  var fate: CrashedSession.Fate {
    switch standing {
    case .inDoubt: .inDoubt
    case .normal, .unreadable, .interrupted: isApplied ? .applied : .undone
    }
  }
}
