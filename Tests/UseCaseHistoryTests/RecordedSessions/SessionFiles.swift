#if os(Linux) || os(macOS)
  import Foundation
  import UseCaseHistory

  /// A session as text: `== name`, then the steps, and below each what has changed since the one
  /// before, with a space, the letter of its kind, and another space in front.
  ///
  /// | letter | |
  /// |---|---|
  /// | `a`, `d`, `n`, `#` | bodies that have begun, discards, notes of code in bodies, ends of operations by their numbers: of this step only |
  /// | `E` | entries, with a minus in front if undone, and a tilde behind if in part |
  /// | `S`, `x`, `y` | the state of the history, and of the documents x and y: next to undo and count, next to redo and count |
  /// | `B` | the applied entries that are blocked, each with its blockers, `*` if all later ones |
  /// | `D` | the document |
  /// | `O` | what the last typings have become |
  /// | `!` | rules that hold at any time and did not |
  struct RecordedSession {
    struct Step {
      let calls: String
      var changes: [String: String] = [:]
    }

    /// Kinds of which each step begins with nothing.
    static let events: Set<String> = ["a", "d", "n", "#", "!"]

    let name: String
    var steps: [Step] = []

    static func sessions(in text: String) -> [RecordedSession] {
      var sessions: [RecordedSession] = []
      for line in text.split(separator: "\n") {
        if line.hasPrefix("==") {
          sessions.append(RecordedSession(name: String(line.dropFirst(3))))
        } else if line.hasPrefix(" ") {
          let (session, words) = (sessions.count - 1, line.dropFirst(3))
          let step = sessions[session].steps.count - 1
          sessions[session].steps[step].changes["\(line.dropFirst().first ?? "?")"] = String(words)
        } else {
          sessions[sessions.count - 1].steps.append(Step(calls: String(line)))
        }
      }
      return sessions
    }

    var text: String {
      var lines = ["== \(name)"]
      for step in steps {
        lines.append(step.calls)
        for (letter, words) in step.changes.sorted(by: { $0.key < $1.key }) {
          lines.append(" \(letter) \(words)")
        }
      }
      return lines.joined(separator: "\n") + "\n"
    }

    /// Adds a step after which this is to be seen, and before which that was.
    mutating func add(_ calls: String, _ view: [String: String], after last: [String: String]) {
      let changes = view.filter { letter, words in
        words != (Self.events.contains(letter) ? "" : last[letter] ?? "")
      }
      steps.append(Step(calls: calls, changes: changes))
    }

    /// Repeats the session, and returns the number of steps that agree, and the first difference.
    func replay(in world: OneThread) -> (Int, difference: String?) {
      let player = SessionPlayer(in: world)
      var expected: [String: String] = [:]
      for (index, step) in steps.enumerated() {
        expected = expected.filter { !Self.events.contains($0.key) }
          .merging(step.changes) { $1 }
        SessionFolder.trace(step.calls)
        let view = player.take(step.calls)
        let letters = Set(view.keys).union(expected.keys).sorted()
          .filter { view[$0] ?? "" != expected[$0] ?? "" }
        if letters.isEmpty { continue }
        let found = letters.map {
          "  \($0) expected: \(expected[$0] ?? "")\n  \($0)      got: \(view[$0] ?? "")"
        }
        let before = steps[...index].map { "    \($0.calls)" }
        let difference =
          (["\(name), step \(index + 1): \(step.calls)"] + found + ["  after"] + before)
          .joined(separator: "\n")
        return (index, difference)
      }
      let alive = player.end()
      return (
        steps.count, alive == 0 ? nil : "\(name): \(alive) answers are alive when all has gone"
      )
    }
  }

  /// Folders of sessions.
  enum SessionFolder {
    static let checkedIn = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sessions")

    static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Repeats all sessions of the folder that `SESSIONS` names, or of those that are checked in.
    ///
    /// `SESSIONS_SHUFFLE` is a seed for the order in which jobs run, and `SESSIONS_SHOW` the number
    /// of differences that are shown, the shortest sessions first.
    ///
    /// - Returns: A summary, and the differences.
    static func replay() throws -> String {
      let folder = variable("SESSIONS").map { URL(filePath: $0) } ?? checkedIn
      let world = OneThread.shared
      world.install()
      if let seed = variable("SESSIONS_SHUFFLE").flatMap(UInt64.init) {
        world.shuffle(with: SessionDice(seed: seed))
      }
      var (steps, sessions) = (0, 0)
      var differences: [(steps: Int, words: String)] = []
      for file in try files(in: folder) {
        for session in try self.sessions(in: file) {
          // A trap ends the process: its message stands behind the name of the session.
          trace("\(file.lastPathComponent) \(session.name)")
          let (agreed, difference) = session.replay(in: world)
          (steps, sessions) = (steps + agreed, sessions + 1)
          if let difference { differences.append((agreed, difference)) }
        }
      }
      differences.sort { $0.steps < $1.steps }
      let shown = differences.prefix(variable("SESSIONS_SHOW").flatMap { Int($0) } ?? 10)
      let summary =
        "\(steps) steps of \(sessions) sessions agree, \(differences.count) sessions differ"
      return ([summary] + shown.map(\.words)).joined(separator: "\n")
    }

    static func files(in folder: URL) throws -> [URL] {
      try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == "txt" }.sorted { $0.path < $1.path }
    }

    static func sessions(in file: URL) throws -> [RecordedSession] {
      RecordedSession.sessions(in: try String(contentsOf: file, encoding: .utf8))
    }

    /// Says where the process is, in the file that `SESSIONS_TRACE` names.
    static func trace(_ words: String) {
      guard isTraced else { return }
      FileHandle.standardError.write(Data("\(words)\n".utf8))
    }

    private static let isTraced =
      variable("SESSIONS_TRACE").map { path in
        dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644), STDERR_FILENO) != -1
      } ?? false
  }
#endif
