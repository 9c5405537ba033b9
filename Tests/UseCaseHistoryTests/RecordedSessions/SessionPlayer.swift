#if os(Linux) || os(macOS)
  import Synchronization
  import TestSupport
  import UseCase
  import UseCaseHistory

  /// Makes the calls of a session, and says what there is to be seen after each.
  ///
  /// A step is one call or several with ` ; ` between them, which are all made before anything
  /// runs. The calls, where `e5@x` is an edit as in ``SessionText``, and entries have the names that
  /// ``SessionNames`` gives:
  ///
  /// | call | |
  /// |---|---|
  /// | `x e5@x` | execute an edit |
  /// | `t z a7`, `t * a7`, `s * a7`, `n * a7` | type, merging with an equal use case, with one recorded by copies, with none |
  /// | `g G3 …` | a group, as in ``SessionScript`` |
  /// | `o H3`, `p H3 e4`, `c H3`, `k H3`, `l H3` | open a group, execute a part, close, cancel, let go |
  /// | `u`, `r`, `m e5`, `m -`, `ui e5`, `ri e5`, `ud x`, `rd x` | undo, redo, move, by entry, in a document |
  /// | `q 7` | cancel the operation 7 |
  /// | `f e5`, `C`, `L 3`, `L -` | forget, clear, limit |
  /// | `P`, `S 1`, `b`, `w 400`, `W 500` | save point, mark saved, break merging, advance the clock, merge window |
  /// | `+`, `-`, `~`, `*` | the body that waits succeeds, fails, is obsolete; all succeed until none waits |
  /// | `in …` | the body that waits makes a call: also `in call e5`, the call form; after `in C` it succeeds |
  final class SessionPlayer {
    /// What there is to be seen, by the letter of its kind.
    typealias View = [String: String]

    let desk = SessionDesk()
    private var history: UseCaseHistory
    private let clock = ManualClock()
    private let world: OneThread
    private var operations: [SessionOperation] = []
    private var points: [HistorySavePoint] = []
    private var groups: [String: HistoryGroup] = [:]
    private var strokes: [String: RecordedUseCase<SessionStroke>] = [:]
    private var names = SessionNames()
    private var typed: [(number: Int, operation: UseCaseOperationID)] = []
    private var last: HistoryState
    private let following = Following()

    private final class Following: Sendable {
      let state = Mutex<HistoryState?>(nil)
    }

    init(in world: OneThread) {
      self.world = world
      history = UseCaseHistory(clock: clock)
      last = history.state
      Task { [following, states = history.states()] in
        for await state in states { following.state.withLock { $0 = state } }
      }
    }

    /// Makes the calls of a step, and lets everything happen that follows.
    func take(_ step: String) -> View {
      for call in step.split(separator: ";") {
        let call = call.split(separator: " ").map(String.init)
        make(call)
      }
      return view(isQuiet: world.drain())
    }

    /// Lets all bodies succeed.
    private func succeed() {
      for _ in 0..<1000 {
        guard world.drain(), desk.waiting != nil else { return }
        desk.order(.succeed)
      }
    }

    // MARK: Calls

    private func make(_ call: [String]) {
      let subject = call.dropFirst().first ?? ""
      switch call.first {
      case "x": note(history.execute(SessionEdit(desk: desk), subject))
      case "t", "s", "n": type(call)
      case "g": note(SessionScript(call.dropFirst()).execute(by: desk, in: history))
      case "o": groups[subject] = history.openGroup(subject)
      case "p": groups[subject].map { note($0.execute(SessionEdit(desk: desk), call[2])) }
      case "c": groups[subject].map { note($0.close()) }
      case "k": groups[subject]?.cancel()
      case "l": groups[subject] = nil
      case "u": note(history.undo())
      case "r": note(history.redo())
      case "m":
        if subject == "-" { return note(history.move(to: nil)) }
        names.ids[subject].map { note(history.move(to: $0)) }
      case "ui": names.ids[subject].map { note(history.undo($0)) }
      case "ri": names.ids[subject].map { note(history.redo($0)) }
      case "ud": note(history.undo(in: SessionText("@\(subject)").footprint))
      case "rd": note(history.redo(in: SessionText("@\(subject)").footprint))
      case "q": operation(subject)?.cancel()
      case "f": names.ids[subject].map { history.forget($0) }
      case "C": history.clear()
      case "L": history.limit = Int(subject)
      case "P": points.append(history.savePoint())
      case "S":
        guard let number = Int(subject), number < points.count else { return }
        history.markSaved(points[number])
      case "b": history.breakMerging()
      case "w":
        let time = Duration.milliseconds(Int(subject) ?? 0)
        Task { [clock] in await clock.advance(by: time) }
        _ = world.drain()
      case "W": history.mergeWindow = .milliseconds(Int(subject) ?? 0)
      case "+": desk.order(.succeed)
      case "-": desk.order(.fail)
      case "~": desk.order(.lose)
      case "*": succeed()
      case "in": makeInside(Array(call.dropFirst()))
      default: break
      }
    }

    private func operation(_ number: String) -> SessionOperation? {
      Int(number).flatMap { operations.indices.contains($0) ? operations[$0] : nil }
    }

    private func type(_ call: [String]) {
      let keys = call[1] == "*" ? nil : [call[1]]
      let operation: UseCaseOperation<String, SessionAnswer>
      switch call[0] {
      case "t": operation = history.execute(SessionNote(desk: desk, keys: keys), call[2])
      case "s":
        let stroke =
          strokes[call[1]] ?? SessionStroke(desk: desk, keys: keys).recorded(in: history)
        strokes[call[1]] = stroke
        operation = stroke.execute(call[2])
      default: operation = history.execute(SessionStroke(desk: desk, keys: keys), call[2])
      }
      typed.append((operations.count, operation.id))
      note(operation)
    }

    private func makeInside(_ call: [String]) {
      let subject = call.dropFirst().first ?? ""
      let entry = names.ids[subject]
      // Until the body is over, what waits is for entries that will have been cleared.
      if call.first == "C" {
        return desk.order(.insideAtLast { [history] in history.clear() })
      }
      desk.order(
        .inside { [desk, history] in
          let title = "in \(call.joined(separator: " "))"
          switch call.first {
          case "L": history.limit = Int(subject)
          case "b": history.breakMerging()
          case "f": entry.map { history.forget($0) }
          case "u": desk.note("\(title) = \(SessionWords.of(await history.undo().ended()))")
          case "r": desk.note("\(title) = \(SessionWords.of(await history.redo().ended()))")
          case "m": desk.note("\(title) = \(SessionWords.of(await history.move(to: nil).ended()))")
          case "g": desk.note("\(title) = \(SessionWords.of(await history.group("I") {}.ended()))")
          case "o":
            let group = history.openGroup("I")
            let part = await group.execute(SessionEdit(desk: desk), "i0").ended()
            desk.note(
              "\(title) = \(SessionWords.of(part)), \(SessionWords.of(await group.close().ended()))"
            )
          case "x":
            let operation = history.execute(SessionEdit(desk: desk), subject)
            Task { desk.note("\(title) = \(SessionWords.of(await operation.ended()))") }
          case "call":
            do {
              let answer = try await SessionEdit(desk: desk).recorded(in: history)(subject)
              desk.note("\(title) = \(answer.number)")
            } catch {
              desk.note("\(title) = \(SessionWords.of(error))")
            }
          default: break
          }
        })
    }

    private func note<Request, Response>(_ operation: UseCaseOperation<Request, Response>) {
      let noted = SessionOperation { operation.cancel() }
      operations.append(noted)
      Task { noted.end(await operation.ended()) }
    }

    // MARK: What there is to be seen

    private func view(isQuiet: Bool) -> View {
      let (entries, state, log) = (history.entries, history.state, desk.takeLog())
      entries.forEach { names.learn($0) }
      var faults = log.faults + names.takeFaults() + self.faults(state, entries)
      if !isQuiet { faults.append("never quiet") }
      var view: View = [
        "a": log.actions.joined(separator: ", "),
        "d": log.discards.sorted().joined(separator: ", "),
        "n": log.notes.sorted().joined(separator: ", "),
        "#": ends().joined(separator: ", "),
        "E": entries.map { layout($0) }.joined(separator: " "),
        "S": words(for: state),
        "B": entries.filter(\.isApplied).compactMap { blockers(of: $0, entries) }
          .joined(separator: " "),
        "D": desk.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
          .joined(separator: " "),
        "O": typed.suffix(5).compactMap { typing in
          history.entry(of: typing.operation).map { "\(typing.number)=\(names.name($0))" }
        }.joined(separator: " "),
        "!": faults.joined(separator: ", "),
      ]
      for key in ["x", "y"] {
        view[key] = words(for: history.state(in: .keys(key)), isDocument: true)
      }
      return view
    }

    private func words(for state: HistoryState, isDocument: Bool = false) -> String {
      let undo = state.canUndo ? state.undoTitle ?? "nil" : state.undoTitle.map { "?\($0)" } ?? "-"
      let redo = state.canRedo ? state.redoTitle ?? "nil" : state.redoTitle.map { "?\($0)" } ?? "-"
      let counts = "\(undo)/\(state.undoCount) \(redo)/\(state.redoCount)"
      return isDocument
        ? counts : "\(counts)\(state.isBusy ? " busy" : "")\(state.isClean ? " clean" : "")"
    }

    /// `G1(e2 -e3)~` is a group that is half undone.
    ///
    /// While an undo or a redo runs, a group shows its parts as they were: “what the history does,
    /// what is shown and what a journal keeps are that table” (of entries with states). The third
    /// edition showed the parts of a move at its end.
    private func layout(_ entry: HistoryEntry, in parent: HistoryEntry? = nil) -> String {
      let isMarked =
        parent.map { $0.isApplied && !entry.isApplied && !isMoving } ?? !entry.isApplied
      let name = names.name(entry)
      var layout = "\(isMarked ? "-" : "")\(name)"
      if !name.hasPrefix(entry.title) { layout += "=\(entry.title)" }
      if !entry.children.isEmpty {
        layout += "(\(entry.children.map { self.layout($0, in: entry) }.joined(separator: " ")))"
      }
      return layout + (entry.isPartial && !isMoving ? "~" : "")
    }

    private var isMoving: Bool { desk.waiting?.hasPrefix("do ") == false }

    private func blockers(of entry: HistoryEntry, _ entries: [HistoryEntry]) -> String? {
      let blockers = history.blockers(of: entry.id)
      if blockers.isEmpty { return nil }
      let later = entries.drop { $0.id != entry.id }.dropFirst().filter(\.isApplied).map(\.id)
      let words =
        blockers == later.sorted()
        ? "*" : blockers.map { names.name($0) }.joined(separator: ",")
      return "\(names.name(entry))<\(words)"
    }

    private func ends() -> [String] {
      operations.enumerated().compactMap { number, operation in
        operation.takeEnd().map { end in
          for entry in end.entries { names.learn(entry) }
          let entries = end.entries.map { layout($0) }.joined(separator: " ")
          return "\(number)=\(end.words(names))\(entries.isEmpty ? "" : "(\(entries))")"
        }
      }
    }

    // MARK: Rules that hold at any time

    private func faults(_ state: HistoryState, _ entries: [HistoryEntry]) -> [String] {
      var faults: [String] = []
      if state.version < last.version || (state.version == last.version && state != last) {
        faults.append("version \(last.version) to \(state.version)")
      }
      last = state
      if let delivered = following.state.withLock({ $0 }), delivered != state {
        faults.append("delivered \(words(for: delivered)), not \(words(for: state))")
      }
      if state != history.state || entries != history.entries {
        faults.append("two readings differ")
      }
      for entry in entries.flatMap({ [$0] + $0.children }) where entry.title.hasPrefix("e") {
        if let id = desk.id(of: entry.title), id != entry.id {
          faults.append("the body of \(entry.title) was in another entry")
        }
        let text = history.execution(entry.id, by: SessionEdit.self)?.request ?? ""
        if SessionText(text).name != entry.title { faults.append("\(entry.title) has \(text)") }
      }
      let cursor = entries.firstIndex { !$0.isApplied } ?? entries.count
      if entries[cursor...].contains(where: \.isApplied) {
        faults.append("an applied one is behind")
      }
      return faults
    }

    /// Drops everything, and returns how many answers are still there.
    func end() -> Int {
      _ = take("C")
      (operations, groups, strokes) = ([], [:], [:])
      history = UseCaseHistory()
      _ = world.drain()
      return desk.lifetime.alive
    }
  }
#endif

/// The names of the entries in the texts of a session: the title, or the first of them with an
/// accent behind it if another entry has it.
struct SessionNames {
  private(set) var ids: [String: HistoryEntry.ID] = [:]
  private var names: [HistoryEntry.ID: String] = [:]
  private var faults: [String] = []

  mutating func learn(_ entry: HistoryEntry) {
    for child in entry.children { learn(child) }
    if let name = names[entry.id] {
      if !"0123456789".contains(entry.title.last ?? "0") || !entry.title.hasPrefix(name) {
        faults.append("\(name) is \(entry.title)")
      }
      return
    }
    var name = entry.title
    while ids[name] != nil { name += "'" }
    (names[entry.id], ids[name]) = (name, entry.id)
  }

  func name(_ entry: HistoryEntry) -> String { name(entry.id) }
  func name(_ id: HistoryEntry.ID) -> String { names[id] ?? "?" }

  mutating func takeFaults() -> [String] {
    defer { faults = [] }
    return faults
  }
}

/// An operation of a session, whatever its types.
final class SessionOperation: Sendable {
  struct End: Sendable {
    let words: @Sendable (SessionNames) -> String
    let entries: [HistoryEntry]

    func words(_ names: SessionNames) -> String { words(names) }
  }

  let cancel: @Sendable () -> Void
  private let state = Mutex((end: End?.none, isOver: false))

  init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

  var isOver: Bool { state.withLock { $0.isOver } }

  func end<Response>(_ outcome: UseCaseOutcome<Response>) {
    var entries: [HistoryEntry] = []
    switch outcome {
    case .success(let response as HistoryEntry?): entries = response.map { [$0] } ?? []
    case .success(let response as [HistoryEntry]): entries = response
    default: break
    }
    let end = End(words: { SessionWords.of(outcome, $0) }, entries: entries)
    state.withLock { $0 = (end, true) }
  }

  func takeEnd() -> End? {
    state.withLock { state in
      defer { state.end = nil }
      return state.end
    }
  }
}

/// What has become of something, in words that are the same in each process.
enum SessionWords {
  static func of<Response>(
    _ outcome: UseCaseOutcome<Response>, _ names: SessionNames = SessionNames()
  ) -> String {
    switch outcome {
    case .success(let answer as SessionAnswer): "\(answer.number)"
    case .success: "ok"
    case .cancelled: "cancelled"
    case .failure(let error): of(error, names)
    }
  }

  static func of(_ error: any Error, _ names: SessionNames = SessionNames()) -> String {
    switch error {
    case let failure as SessionFailure: "failed[\(failure.action)]"
    case is CancellationError: "CancellationError"
    case let obsolete as HistoryObsolete:
      "obsolete[\((obsolete.cause as? SessionFailure)?.action ?? "")]"
    case let group as HistoryGroupError:
      "group[\(of(group.cause, names)); \(of(group.undoFailure, names)); "
        + "\(names.name(group.residue))]"
    case HistoryError.unknownEntry(let entry): "unknown[\(names.name(entry))]"
    case HistoryError.blocked(let entries):
      "blocked[\(entries.map { names.name($0) }.joined(separator: " "))]"
    case HistoryError.outOfTurn: "outOfTurn"
    case HistoryError.reentrant: "reentrant"
    default: "\(error)"
    }
  }
}

/// The body of a group: `e1` calls an edit, `&e1` executes it and goes on, `=e1` executes and awaits
/// it, `( G2 … )` is a nested group, `[ H2 e3 … ]` one that is held open and closed, `[ H2 e3 … /`
/// one that is cancelled. `!` throws. A script that begins with `?` goes on when an item fails.
struct SessionScript: Sendable {
  private indirect enum Item: Sendable {
    case call(String), execute(String), await(String), fail
    case group(SessionScript)
    case held(String, [String], isCancelled: Bool)
  }

  private let title: String
  private var items: [Item] = []
  private var isTolerant = false

  init(_ words: ArraySlice<String>) {
    var words = words
    self.init(&words)
  }

  private init(_ words: inout ArraySlice<String>) {
    title = words.popFirst() ?? ""
    while let word = words.popFirst() {
      switch word {
      case ")": return
      case "(": items.append(.group(SessionScript(&words)))
      case "[":
        let title = words.popFirst() ?? ""
        let texts = Array(words.prefix { $0 != "]" && $0 != "/" })
        words = words.dropFirst(texts.count)
        items.append(.held(title, texts, isCancelled: words.popFirst() == "/"))
      case "!": items.append(.fail)
      case "?": isTolerant = true
      default:
        items.append(
          word.hasPrefix("&")
            ? .execute(String(word.dropFirst()))
            : word.hasPrefix("=") ? .await(String(word.dropFirst())) : .call(word))
      }
    }
  }

  func execute(
    by desk: SessionDesk, in history: UseCaseHistory
  ) -> UseCaseOperation<String, Void> {
    let recorded = SessionEdit(desk: desk).recorded(in: history)
    return history.group(title) {
      for (index, item) in items.enumerated() {
        do {
          switch item {
          case .call(let text): _ = try await recorded(text)
          case .execute(let text):
            let operation = history.execute(SessionEdit(desk: desk), text)
            Task {
              desk.note("\(title).\(index) = \(SessionWords.of(await operation.ended()))")
            }
          case .await(let text): _ = try await recorded.execute(text).value
          case .group(let script): try await script.execute(by: desk, in: history).value
          case .held(let title, let texts, let isCancelled):
            let group = history.openGroup(title)
            for text in texts {
              let part = await group.execute(SessionEdit(desk: desk), text).ended()
              desk.note("\(title).\(SessionText(text).name) = \(SessionWords.of(part))")
            }
            if isCancelled { group.cancel() }
            _ = try await group.close().value
          case .fail: throw SessionFailure(action: title)
          }
        } catch {
          if !isTolerant { throw error }
          desk.note("\(title).\(index) = \(SessionWords.of(error))")
        }
        try Task.checkCancellation()
      }
    }
  }
}
