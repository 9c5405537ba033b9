#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing
  import UseCaseHistory

  /// Makes up a session: looks at what there is, and takes the next step by chance.
  ///
  /// It leaves out what the fourth edition has changed on purpose, each with the sentence.
  struct SessionGenerator {
    private var dice: SessionDice
    private let player: SessionPlayer
    private var lastText = 0
    private var open: [String] = []
    /// The names of the parts of each group that was held open.
    private var parts: [String: Set<String>] = [:]
    /// The operations of executions, and of groups whose parts are all called and awaited.
    private var cancellable: [Int] = []
    private var operations = 0
    private var points = 0
    private let documents = ["x", "y", "z", "x,y"]
    private let kind: Kind

    /// What a session is mostly about.
    enum Kind: CaseIterable { case line, documents, groups, typing, all }

    init(seed: UInt64, kind: Kind, player: SessionPlayer) {
      (dice, self.kind, self.player) = (SessionDice(seed: seed), kind, player)
    }

    /// Returns a session as it went.
    static func session(seed: UInt64, in world: OneThread) -> RecordedSession {
      var dice = SessionDice(seed: seed)
      let kind = dice.pick(Kind.allCases) ?? .all
      let player = SessionPlayer(in: world, edition: ThirdEdition())
      var generator = SessionGenerator(seed: dice.next(), kind: kind, player: player)
      var session = RecordedSession(name: "\(seed) \(kind)")
      var last: SessionPlayer.View = [:]
      SessionFolder.trace(session.name)
      func take(_ step: String) {
        SessionFolder.trace(step)
        let view = player.take(step)
        session.add(step, view, after: last)
        last = view
      }
      for _ in 0..<(5 + dice.roll(60)) { take(generator.step()) }
      for step in generator.ending() { take(step) }
      let alive = player.end()
      precondition(alive == 0, "\(session.name): \(alive) answers are alive.")
      return session
    }

    private mutating func step() -> String {
      let isBatch = dice.happens(25)
      let calls = (0..<(isBatch ? 2 + dice.roll(3) : 1)).map { _ in call() }
      return calls.joined(separator: " ; ")
    }

    /// All groups are let go, everything ends, and all that can be is undone, redone and cleared.
    private func ending() -> [String] {
      let groups = open.map { "l \($0)" }
      let moves = Array(repeating: "u", count: 3)
      let back = Array(repeating: "r", count: 3)
      return [(groups + ["*"]).joined(separator: " ; ")]
        + [moves + ["*"], ["m - ", "*"], back + ["*"], ["C", "*"]].map {
          $0.joined(separator: " ; ")
        }
    }

    // MARK: Names

    private mutating func number() -> Int {
      lastText += 1
      return lastText
    }

    private mutating func text(heeding: Bool = true) -> String {
      let keys: [String?]
      switch kind {
      case .line, .typing: keys = [nil, nil, nil, "@x"]
      case .documents: keys = ["@x", "@y", "@z", "@x,y", "@y,z", "@", nil]
      case .groups, .all: keys = [nil, nil, "@", "@x", "@y", "@x,y", "@y,z"]
      }
      let footprint = dice.pick(keys) ?? nil
      let mark = heeding && dice.happens(15) ? "!" : ""
      return "e\(number())\(mark)\(footprint ?? "")"
    }

    /// Returns an entry, mostly one that is there.
    private mutating func entry() -> String? {
      let there = player.history.entries.map { player.names.name($0) }
      return dice.happens(85)
        ? dice.pick(there) : dice.pick(player.names.ids.keys.sorted())
    }

    // MARK: Calls

    private mutating func call() -> String {
      let isWaiting = player.desk.waiting != nil
      // Bodies end often enough for the lane not to fill.
      if isWaiting, dice.happens(35) { return end() }
      switch kind {
      case .line: return line()
      case .documents: return dice.happens(60) ? document() : line()
      case .groups: return dice.happens(60) ? group() : line()
      case .typing: return dice.happens(60) ? typing() : line()
      case .all:
        switch dice.roll(4) {
        case 0: return document()
        case 1: return group()
        case 2: return typing()
        default: return line()
        }
      }
    }

    private mutating func end() -> String {
      switch dice.roll(100) {
      case ..<50: "+"
      case ..<65: "*"
      case ..<78: "-"
      case ..<90: isExecuting ? "+" : dice.happens(50) ? "~" : "-"
      case ..<97: inside()
      default: cancel() ?? "+"
      }
    }

    /// A body of an execution that throws the error of an obsolete entry just fails.
    private var isExecuting: Bool { player.desk.waiting?.hasPrefix("do ") == true }

    private mutating func inside() -> String {
      switch dice.roll(12) {
      case 0: "in C"
      case 1: "in u"
      case 2: "in r"
      case 3: "in m"
      case 4: "in g"
      case 5: "in o"
      case 6: "in L \(dice.pick(["-", "0", "1", "2"]) ?? "-")"
      case 7: entry().map { "in f \($0)" } ?? "in b"
      case 8: "in b"
      case 9, 10: "in x \(text())"
      default: "in call \(text(heeding: false))"
      }
    }

    private mutating func line() -> String {
      switch dice.roll(100) {
      case ..<34: return edit()
      case ..<52: return ask("u")
      case ..<66: return ask("r")
      case ..<72:
        let entry = dice.happens(20) ? "-" : entry() ?? "-"
        return ask("m \(entry)")
      case ..<76: return byEntry("ui")
      case ..<79: return byEntry("ri")
      case ..<83: return entry().map { "f \($0)" } ?? edit()
      case ..<85: return "C"
      case ..<89: return "L \(dice.pick(["-", "-", "0", "1", "2", "3", "5"]) ?? "-")"
      case ..<93:
        points += 1
        return "P"
      case ..<97:
        return points > 0 ? "S \(dice.happens(60) ? points - 1 : dice.roll(points))" : edit()
      default: return cancel() ?? edit()
      }
    }

    private mutating func document() -> String {
      switch dice.roll(100) {
      case ..<40: return edit()
      case ..<60: return ask("ud \(dice.pick(documents) ?? "x")")
      case ..<74: return ask("rd \(dice.pick(documents) ?? "x")")
      case ..<88: return byEntry("ui")
      default: return byEntry("ri")
      }
    }

    private mutating func edit() -> String {
      cancellable.append(operations)
      return ask("x \(text())")
    }

    private mutating func ask(_ call: String) -> String {
      operations += 1
      return call
    }

    private mutating func byEntry(_ call: String) -> String {
      entry().map { ask("\(call) \($0)") } ?? edit()
    }

    private mutating func cancel() -> String? {
      let waiting = cancellable.filter {
        $0 >= player.operations.count || !player.operations[$0].isOver
      }
      return dice.pick(waiting).map { "q \($0)" }
    }

    private mutating func typing() -> String {
      switch dice.roll(100) {
      case ..<75:
        let letter = dice.pick(["a", "b", "c", "x", "x", "X", "Y"]) ?? "a"
        let kind = dice.pick(["t", "t", "t", "s", "s", "n"]) ?? "t"
        return ask("\(kind) \(dice.pick(["*", "*", "x"]) ?? "*") \(letter)\(number())")
      case ..<80: return "b"
      case ..<92: return "w \(dice.pick(["1", "400", "500", "501"]) ?? "1")"
      case ..<95: return "W \(dice.pick(["0", "400", "500"]) ?? "500")"
      default:
        points += 1
        return "P"
      }
    }

    // MARK: Groups

    private mutating func group() -> String {
      switch dice.roll(100) {
      case ..<22:
        let script = script(depth: 0)
        if script.isPlain { cancellable.append(operations) }
        return ask("g \(script.words)")
      case ..<40:
        let name = "H\(number())"
        open.append(name)
        return "o \(name)"
      case ..<75:
        guard let name = dice.pick(open) else { return edit() }
        let text = text()
        parts[name, default: []].insert(SessionText(text).name)
        return ask("p \(name) \(text)")
      case ..<88:
        guard let name = dice.pick(open) else { return edit() }
        leave(name)
        return ask("c \(name)")
      case ..<94:
        guard let name = dice.pick(open), !isRunning(name) else { return edit() }
        leave(name)
        return ask("k \(name) ; c \(name)")
      default:
        guard let name = dice.pick(open) else { return edit() }
        open.removeAll { $0 == name }
        return "l \(name)"
      }
    }

    /// Mostly nothing else is asked of it.
    private mutating func leave(_ name: String) {
      if dice.happens(75) { open.removeAll { $0 == name } }
    }

    /// “Cancelling a group … cancels the part that runs”: the third edition let it end.
    private func isRunning(_ name: String) -> Bool {
      guard let action = player.desk.waiting else { return false }
      let text = action.split(separator: " ")[1].prefix { $0 != ":" }
      return parts[name]?.contains(String(text)) == true
    }

    /// A group is plain if all of its parts are called and awaited in its body, and an error ends it.
    ///
    /// “Cancelling a group, in either form, … cancels the part that runs and those that wait”: in the
    /// third edition that was so for plain ones only.
    private mutating func script(depth: Int) -> (words: String, isPlain: Bool) {
      var words = ["G\(number())"]
      var isPlain = true
      if dice.happens(30) { (words, isPlain) = (words + ["?"], false) }
      for _ in 0..<dice.roll(depth == 0 ? 5 : 4) {
        switch dice.roll(100) {
        case ..<50: words.append(text())
        case ..<60: (words, isPlain) = (words + ["&\(text())"], false)
        case ..<70: (words, isPlain) = (words + ["=\(text())"], false)
        case ..<85 where depth < 2:
          (words, isPlain) = (words + ["(", script(depth: depth + 1).words, ")"], false)
        case ..<97 where depth < 2:
          let texts = (0..<dice.roll(3)).map { _ in text() }
          let end = dice.happens(70) ? "]" : "/"
          (words, isPlain) = (words + ["[", "H\(number())"] + texts + [end], false)
        default: words.append("!")
        }
      }
      return (words.joined(separator: " "), isPlain)
    }
  }

  extension SessionFolder {
    /// Records `SESSIONS_STEPS` steps into the folder that `SESSIONS_INTO` names, in files of a
    /// hundred sessions, from the seed `SESSIONS_SEED` on.
    static func record() throws -> String? {
      guard let path = variable("SESSIONS_INTO") else { return nil }
      let wanted = variable("SESSIONS_STEPS").flatMap { Int($0) } ?? 1000
      var seed = variable("SESSIONS_SEED").flatMap(UInt64.init) ?? 1
      let world = OneThread.shared
      world.install()
      let folder = URL(filePath: path)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      var steps = 0
      while steps < wanted {
        let first = seed
        var text = ""
        while steps < wanted, seed < first + 100 {
          let session = SessionGenerator.session(seed: seed, in: world)
          text += session.text
          steps += session.steps.count
          seed += 1
        }
        try text.write(
          to: folder.appending(path: "sessions-\(first).txt"), atomically: true, encoding: .utf8)
      }
      return "\(steps) steps recorded"
    }
  }
#endif

#if os(Linux) || os(macOS)
  @Suite(.mustEnd)
  struct SessionRecorderTests {
    @Test(.enabled(if: SessionFolder.variable("SESSIONS_INTO") != nil))
    func `sessions are recorded`() async throws {
      await #expect(processExitsWith: .success) {
        print(try SessionFolder.record() ?? "")
        exit(0)
      }
    }
  }
#endif
