import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

#if os(Linux) || os(macOS)
  /// Processes are killed in the middle of executions, groups, undos, redos and recoveries.
  ///
  /// `HISTORY_KILLS=1000 swift test` kills more of them.
  @Suite(.mustEnd)
  struct KilledHistoryTests {
    private static let kills =
      ProcessInfo.processInfo.environment["HISTORY_KILLS"].flatMap { Int($0) } ?? 20

    @Test(.holds("Kills", "Crashes"))
    func `after each kill the document is what the entries say`() async throws {
      let folder = try Folder()
      let document = Document(file: folder.url.appending(path: "document"))
      var random = SystemRandomNumberGenerator()
      var steps = 0
      for round in 1...Self.kills {
        // Every other one is killed as it starts, opens the history, or soon after.
        let first = round.isMultiple(of: 2) ? 0 : Int.random(in: 20...40, using: &random)
        let delay = UInt32.random(in: 0...(first == 0 ? 100_000 : 5_000), using: &random)
        let keeps = Bool.random(using: &random)
        await #expect(processExitsWith: .signal(SIGKILL), "round \(round)") {
          [
            file = folder.file as URL, document = document as Document, first = first as Int,
            delay = delay as UInt32, keeps = keeps as Bool
          ] in
          func killSoon() {
            Thread {
              usleep(delay)
              kill(getpid(), SIGKILL)
            }.start()
          }
          if first == 0 { killSoon() }
          let session = try await KilledSession(file, document, keeps: keeps, fails: true)
          for _ in 0..<first { await session.goOn() }
          if first > 0 { killSoon() }
          while true { await session.goOn() }
        }
        steps += document.shorten()
      }
      let last = try await KilledSession(folder.file, document, keeps: false, fails: false)
      #expect(steps > 0)
      await last.undoAll()
      #expect(document.present.isEmpty)
      await last.close()
    }
  }

  /// Lines that were added and taken away by name. A line is written whole or not at all.
  private struct Document: Codable, Sendable {
    let file: URL

    private func write(_ line: String) {
      let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
      let bytes = Array("\(line)\n".utf8)
      guard descriptor >= 0, Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
        fatalError("The document can't be written.")
      }
      close(descriptor)
    }

    func add(_ name: String) { write("+\(name)") }
    func remove(_ name: String) { write("-\(name)") }

    private var lines: [Substring] {
      ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// Leaves only a line for each name that is present. Returns how many lines there were more.
    func shorten() -> Int {
      let (count, present) = (lines.count, present)
      let text = present.map { "+\($0)\n" }.joined()
      do { try text.write(to: file, atomically: true, encoding: .utf8) } catch {
        fatalError("\(error)")
      }
      return count - present.count
    }

    /// The names that were added and not taken away.
    var present: Set<String> {
      lines.reduce(into: []) { present, line in
        let name = String(line.dropFirst())
        // What is done twice, or undone twice, is seen.
        if line.first == "+" {
          if !present.insert(name).inserted { present.insert("\(name) twice") }
        } else if present.remove(name) == nil {
          present.insert("no \(name)")
        }
      }
    }
  }

  private struct Offline: Error {}

  /// Adds a line, whose name is that of its entry.
  private struct AddLine: JournaledUseCase {
    static let journalName = "add line"
    let document: Document
    let fails: Bool

    private var name: String { HistoryEntry.ID.current.map { "\($0)" } ?? "no entry" }

    private func mayFail() throws {
      if fails, Int.random(in: 0..<12) == 0 { throw Offline() }
    }

    func main(_ request: Int) async throws -> Int {
      try mayFail()
      document.add(name)
      return request
    }

    func undo(_ request: Int, _ response: Int) async throws {
      try mayFail()
      document.remove(name)
    }

    func redo(_ request: Int, _ response: Int) async throws -> Int {
      try mayFail()
      document.add(name)
      return response + 1
    }

    func settle(_ doubt: HistoryDoubt<Int, Int>) async throws -> HistorySettlement<Int> {
      let isPresent = document.present.contains(name)
      return switch doubt {
      case .execution(let request): isPresent ? .hadEffect(request) : .hadNoEffect
      case .undo(_, let response): isPresent ? .hadNoEffect : .hadEffect(response)
      case .redo(_, let response): isPresent ? .hadEffect(response + 1) : .hadNoEffect
      }
    }
  }

  /// A process that opens the history, and executes, undoes and redoes at random.
  private struct KilledSession {
    let journal: FileJournal
    let history: UseCaseHistory
    let document: Document
    let add: RecordedUseCase<AddLine>

    init(_ file: URL, _ document: Document, keeps: Bool, fails: Bool) async throws {
      self.document = document
      let add = AddLine(document: document, fails: fails)
      journal = try FileJournal(at: file)
      history = try await UseCaseHistory.open(
        journal, for: [add], interrupted: keeps ? .keep : .compensate)
      self.add = add.recorded(in: history)
      check("the opening")
    }

    /// Stops the process if the document is not what the entries say.
    private func check(_ moment: String) {
      func leaves(of entry: HistoryEntry) -> [HistoryEntry] {
        entry.children.isEmpty ? [entry] : entry.children.flatMap(leaves)
      }
      let applied = history.entries.flatMap(leaves).filter(\.isApplied).map { "\($0.id)" }
      guard Set(applied) == document.present, applied.count == Set(applied).count else {
        fatalError(
          "After \(moment), \(document.present.sorted()) are there: \(history.entries), \(applied)")
      }
    }

    func goOn() async {
      switch Int.random(in: 0..<12) {
      case 0...1: await add.execute(1).ended()
      case 2...4: await group(depth: 0, count: Int.random(in: 1...4), fails: false)
      case 5: await group(depth: 0, count: 3, fails: true)
      case 6...9: await history.undo().ended()
      default: await history.redo().ended()
      }
      // A new action drops what is undone, so the history stays short.
      if history.entries.count > 20 { for _ in 1...18 { await history.undo().ended() } }
      check("a step")
    }

    private func group(depth: Int, count: Int, fails: Bool) async {
      _ = try? await history.group("group") {
        for number in 0..<count {
          if depth == 0, number == 1, Bool.random() {
            await group(depth: 1, count: 2, fails: false)
          } else {
            _ = try await add(number)
          }
        }
        if fails { throw Offline() }
      }.value
    }

    func undoAll() async {
      while history.entries.contains(where: \.isApplied) {
        guard case .success = await history.undo().ended() else {
          Issue.record("An undo has failed: \(history.entries)")
          return
        }
        check("an undo")
      }
    }

    func close() async {
      await history.idle()
      await journal.close()
    }
  }
#endif
