import Foundation
import Synchronization
import UseCase
import UseCaseHistory
import UseCaseJournal

/// A journal that keeps what its file was after each record, and notes what the record is about.
final class JournalScribe: HistoryJournal {
  typealias Record = CrashedSession.Record

  private struct State {
    var record = Record(isIntent: false, text: Phrase("an empty history", "un historial vacío"))
    var files: [(record: Record, file: Data)] = []
    var undone: [String] = []
  }

  private let url: URL
  private let journal: FileJournal
  private let state = Mutex(State())

  init(at url: URL) throws {
    self.url = url
    journal = try FileJournal(at: url)
  }

  var coder: any HistoryCoder { journal.coder }

  /// The titles of what was undone.
  var undone: [String] { state.withLock { $0.undone } }

  func read() async throws -> HistoryRows { try await journal.read() }

  func write(_ change: HistoryChange) async throws {
    try await journal.write(change)
    try note()
  }

  private func note() throws {
    let file = try Data(contentsOf: url)
    state.withLock { state in
      // The end of a body takes one write, or two if the first one begins early.
      if state.files.last?.record == state.record { state.files.removeLast() }
      state.files.append((state.record, file))
    }
  }

  /// The next records say that a body begins.
  private func begin(_ english: String, _ spanish: String) {
    state.withLock { $0.record = Record(isIntent: true, text: Phrase(english, spanish)) }
  }

  fileprivate func end(_ letter: String) {
    let text = Phrase("\(letter) has ended", "\(letter) ha acabado")
    state.withLock { $0.record = Record(isIntent: false, text: text) }
  }

  fileprivate func endUndo(of letter: String) {
    let text = Phrase("undo of \(letter) has ended", "undo de \(letter) ha acabado")
    state.withLock {
      $0.record = Record(isIntent: false, text: text)
      $0.undone.append(letter)
    }
  }

  /// Returns what the file was after each record, until the last part of a group has ended.
  static func session(in folder: URL) async throws -> [(record: Record, file: Data)] {
    let scribe = try JournalScribe(at: folder.appending(path: "undo.journal"))
    let letter = Letter(scribe: scribe)
    let history = try await UseCaseHistory.open(scribe, for: [letter])
    let write = letter.recorded(in: history)
    for letter in ["A", "B"] {
      scribe.begin("\(letter) begins", "\(letter) empieza")
      _ = try await write.execute(letter).value
    }
    scribe.begin("undo of B begins", "undo de B empieza")
    _ = try await history.undo().value
    scribe.begin("a group begins, C in it", "un grupo empieza, y C en él")
    return try await history.group("group") {
      _ = try await write("C")
      scribe.begin("D begins in the group", "D empieza en el grupo")
      _ = try await write("D")
      return scribe.state.withLock { $0.files }
    }.value
  }
}

/// Writes a letter. Nobody knows whether it was written, if the process ends meanwhile.
struct Letter: JournaledUseCase {
  static let journalName = "letter"
  let scribe: JournalScribe

  func main(_ letter: String) async throws -> Int {
    scribe.end(letter)
    return letter.count
  }

  func undo(_ letter: String, _: Int) async throws { scribe.endUndo(of: letter) }
  func title(for letter: String) -> String { letter }
}
