import TestSupport
import UseCase
import UseCaseHistory

/// Does the same to a history and to the reference, and tells the first difference.
final class RandomSession {
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  let reference = ReferenceHistory()
  var process = RandomProcess()
  private let clock = ManualClock()
  var history: UseCaseHistory
  /// The journal, if the history has one.
  var disk: Disk?
  var operations: [Int: any AnyRandomOperation] = [:]
  /// The open groups that are not let go, and the operations of their parts.
  var groups: [Int: (group: HistoryGroup, parts: [Int])] = [:]
  var points: [(HistorySavePoint, [[Int]]?)] = []
  private var ids: [Int: HistoryEntry.ID] = [:]
  private var texts = 0
  private var discarded: [String] = []
  private var last: HistoryState
  private var document = RandomDocument()
  /// The responses that were alive in the processes before.
  private var lifetimes: [Lifetime] = []
  private var succeeded: [String] = []
  /// To look at a document asks executions that wait what they are going to touch.
  private var looksAtDocuments = false

  private var page: Page { process.page }
  private var stage: RandomStage { process.stage }

  /// Whether it waits long for what may never come. A session that is shortened need not be sure.
  private let isPatient: Bool

  /// With a journal, the history is opened again in the midst of the session.
  init(isJournaled: Bool = false, isPatient: Bool = true) {
    self.isPatient = isPatient
    history = UseCaseHistory(clock: clock)
    disk = isJournaled ? Disk() : nil
    last = history.state
  }

  func run(_ steps: [RandomStep]) async throws {
    looksAtDocuments = steps.count.isMultiple(of: 2)
    if let disk { try await open(disk, .compensate) }
    for step in steps {
      try await take(step)
      try await compare()
    }
    for group in groups.keys.sorted() {
      letGo(group)
      try await compare()
    }
    while !reference.queue.isEmpty {
      try await take(.succeed)
      try await compare()
    }
    try await end()
  }

  /// The next process opens the journal.
  func open(_ disk: Disk, _ interruption: HistoryInterruption) async throws {
    self.disk = disk
    let hasEnded = Watched(false)
    let opening = Task { [page, limit = reference.limit, window = reference.window, clock] in
      defer { hasEnded.update { $0 = true } }
      return try await UseCaseHistory.open(
        disk, for: [Edit(page: page), Typing(page: page)], interrupted: interruption, limit: limit,
        mergeWindow: .milliseconds(window), clock: clock)
    }
    try await settle("the opening ends") { hasEnded.value }
    history = try await opening.value
    last = history.state
  }

  private static let documents = ["x", "y", "z", "xy", "yz"]

  private static func footprint(_ keys: String) -> HistoryFootprint { .keys(keys.map { "\($0)" }) }

  private func text() -> String {
    texts += 1
    var random = SeededGenerator(seed: UInt64(texts))
    let footprint = [
      "", "", "@", "@x", "@y", "@z", "@x,y", "@x,z", "?@x", "?@y", "?@y,z",
    ].randomElement(using: &random)
    let text = "e\(texts)_\(footprint ?? "")"
    document.keys[ReferenceHistory.name(text)] = ReferenceHistory.keys(text)
    return text
  }

  /// Returns an entry, mostly one that is there.
  private func key(_ number: Int) -> Int? {
    let keys = number % 4 == 0 ? ids.keys.sorted() : reference.entries.map(\.key)
    return keys.isEmpty ? nil : keys[number % keys.count]
  }

  private func take(_ step: RandomStep) async throws {
    switch step {
    case .edit:
      let text = text()
      operations[reference.ask(.edit(text))] = RandomOperation(
        history.execute(Edit(page: page), text)
      ) { "\($0.number)" }
    case .type(let letter):
      let text = ["a", "b", "c", "a", "b", "x", "X", "Y"][letter]
      operations[reference.ask(.typing(text))] = RandomOperation(
        history.execute(Typing(page: page), text)
      ) { "\($0)" }
    case .group(let seed, let holds):
      var random = SeededGenerator(seed: seed)
      let script = ReferenceHistory.Script.random(holds: holds, &random, text: text)
      operations[reference.ask(.group(script))] = RandomOperation(
        script.execute(by: Edit(page: page), in: history), answer: { _ in "done" })
    case .openGroup, .part, .closeGroup, .cancelGroup, .letGo, .cancelPart: takeInGroup(step)
    case .reopen(let reopening): try await reopen(reopening)
    case .undo:
      operations[reference.ask(.undo)] = RandomOperation(history.undo()) { $0?.title ?? "nil" }
    case .redo:
      operations[reference.ask(.redo)] = RandomOperation(history.redo()) { $0?.title ?? "nil" }
    case .move(let number):
      let key = ids.isEmpty || number % 5 == 0 ? nil : ids.keys.sorted()[number % ids.count]
      operations[reference.ask(.move(key))] = RandomOperation(
        history.move(to: key.flatMap { ids[$0] })
      ) { "[\($0.map(\.title).joined(separator: " "))]" }
    case .undoEntry(let number):
      guard let key = key(number), let id = ids[key] else { return }
      operations[reference.ask(.undoEntry(key))] = RandomOperation(history.undo(id)) {
        $0?.title ?? "nil"
      }
    case .redoEntry(let number):
      guard let key = key(number), let id = ids[key] else { return }
      operations[reference.ask(.redoEntry(key))] = RandomOperation(history.redo(id)) {
        $0?.title ?? "nil"
      }
    case .undoIn(let number):
      let keys = Self.documents[number % Self.documents.count]
      operations[reference.ask(.undoIn(Set(keys)))] = RandomOperation(
        history.undo(in: Self.footprint(keys))
      ) { $0?.title ?? "nil" }
    case .redoIn(let number):
      let keys = Self.documents[number % Self.documents.count]
      operations[reference.ask(.redoIn(Set(keys)))] = RandomOperation(
        history.redo(in: Self.footprint(keys))
      ) { $0?.title ?? "nil" }
    case .forget(let number):
      guard let key = key(number), let id = ids[key] else { return }
      history.forget(id)
      reference.forget(key)
    case .succeed, .fail, .lose, .askInside, .cancel: await direct(step)
    case .clear:
      if let first = reference.queue.first, isRacing(first.id) { return }
      history.clear()
      reference.clear()
    case .limit(let limit):
      history.limit = limit
      reference.setLimit(limit)
    case .savePoint: points.append((history.savePoint(), reference.savePoint()))
    case .markSaved(let number):
      guard !points.isEmpty else { return }
      let (point, saved) = points[number % points.count]
      history.markSaved(point)
      reference.saved = saved
    case .breakMerging:
      history.breakMerging()
      reference.breaks += 1
    case .window(let milliseconds):
      history.mergeWindow = .milliseconds(milliseconds)
      reference.window = milliseconds
    case .wait(let milliseconds):
      await clock.advance(by: .milliseconds(milliseconds))
      reference.time += milliseconds
    }
  }

  /// Does something with a group that is held open.
  private func takeInGroup(_ step: RandomStep) {
    let open = groups.keys.sorted()
    func group(_ number: Int) -> Int? { open.isEmpty ? nil : open[number % open.count] }
    switch step {
    case .openGroup:
      let group = history.openGroup("H\(groups.count)")
      let id = reference.openGroup("H\(groups.count)")
      groups[id] = (group, [])
    case .part(let number):
      guard let id = group(number), let group = groups[id]?.group else { return }
      let text = text()
      let part = group.execute(Edit(page: page), text)
      let operation = reference.execute(text, in: id)
      operations[operation] = RandomOperation(part) { "\($0.number)" }
      groups[id]?.parts.append(operation)
    case .closeGroup(let number):
      guard let id = group(number), let group = groups[id]?.group else { return }
      note(group.close(), of: id)
      reference.close(id)
      if !number.isMultiple(of: 3) { groups[id] = nil }
    case .cancelGroup(let number):
      guard let id = group(number), let group = groups[id]?.group else { return }
      if isRacing(id) || cancelsPart(id) { return }
      group.cancel()
      note(group.close(), of: id)
      reference.cancelGroup(id)
      if !number.isMultiple(of: 3) { groups[id] = nil }
    case .letGo(let number): group(number).map(letGo)
    case .cancelPart(let number):
      guard let id = group(number), let parts = groups[id]?.parts, !parts.isEmpty else { return }
      let part = parts[parts.count - 1 - number / open.count % min(3, parts.count)]
      operations[part]?.cancel()
      reference.cancelPart(part, of: id)
    default: break
    }
  }

  /// Whether a group may have the lane, and its body not have begun. Cancelled now, it may keep none
  /// from merging, and a journal may have it behind a clear.
  private func isRacing(_ group: Int) -> Bool {
    guard let held = reference.held[group], reference.queue.first?.id == group else { return false }
    return held.parts.isEmpty && held.running == nil
  }

  /// Whether to cancel the group cancels a part that runs, which may have its effect all the same.
  private func cancelsPart(_ group: Int) -> Bool { reference.held[group]?.running != nil }

  private func letGo(_ group: Int) {
    groups[group] = nil
    reference.close(group)
  }

  /// Does something to what runs.
  private func direct(_ step: RandomStep) async {
    guard !reference.queue.isEmpty else { return }
    if case .cancel = step {} else if !reference.isActing { return }
    switch step {
    case .succeed:
      stage.order(.succeed)
      reference.tell(.success)
    case .fail:
      stage.order(.fail)
      reference.tell(.failure)
    case .lose:
      // A body that throws the error just fails.
      let isExecution = reference.present.log.last?.hasPrefix("do ") == true
      stage.order(isExecution ? .fail : .lose)
      reference.tell(isExecution ? .failure : .obsolete)
    case .askInside:
      await inside { [history] in
        let errors = [
          await history.undo().ended().historyError, await history.redo().ended().historyError,
          await history.move(to: nil).ended().historyError,
          await history.group("R") {}.ended().historyError,
        ]
        precondition(errors == [.reentrant, .reentrant, .reentrant, .reentrant])
      }
    case .cancel(let number):
      let index = number % reference.queue.count
      let operation = reference.queue[index]
      // How far the body of a group comes that is cancelled is a race.
      if index == 0, case .group = operation.ask { return }
      // Only the one who closes an open group has its operation.
      guard let running = operations[operation.id], !isRacing(operation.id),
        !cancelsPart(operation.id)
      else { return }
      running.cancel()
      reference.cancel(at: index)
    default: break
    }
  }

  private func inside(_ body: @escaping @Sendable () async -> Void) async {
    let done = stage.done.value
    stage.order(.inside(body))
    await stage.done.wait { $0 > done }
  }

  /// The operation of the group is the same one whenever it is asked for.
  private func note(_ operation: UseCaseOperation<String, HistoryEntry?>, of group: Int) {
    operations[group] = RandomOperation(operation) { $0?.title ?? "nil" }
  }

  // MARK: Comparing

  private func compare() async throws {
    let present = reference.present
    try await settle("\(present.log.count) actions") { [stage] in
      stage.begun.value >= present.log.count
    }
    for id in reference.outcomes.keys {
      guard let operation = operations[id] else { continue }
      try await settle("operation \(id) ends") { operation.isOver }
      _ = await operation.ended([:])
    }
    if reference.outcomes.keys.contains(where: { operations[$0] == nil }) {
      // Nobody has the operation of a group that was let go.
      let lane = Edit(page: page).recorded(in: history).queue
      try await settle("a group ends") { [page] in
        let (activity, count) = (lane.activity, reference.queue.count)
        return activity.running + activity.waiting == count
          && (disk != nil || page.discarded.count >= present.discards.count)
          && (try? compareState()) != nil
      }
    }
    try await compareLogs(present.log, present.discards)
    try compareState()
    try compareDocument()
    let keys = Dictionary(uniqueKeysWithValues: ids.map { ($0.value, $0.key) })
    for (id, expected) in reference.outcomes {
      guard let operation = operations.removeValue(forKey: id) else { continue }
      try check(expected, await operation.ended(keys), "outcome of \(id)")
    }
    reference.outcomes = [:]
  }

  private func compareLogs(_ log: [String], _ discards: [String]) async throws {
    let news = page.log.elements[process.compared.page...]
    let actions = news.filter { !$0.hasPrefix("discard ") }
    try check(Array(log[process.compared.actions...]), actions, "log")
    process.compared.page += news.count
    process.compared.actions += actions.count
    if disk != nil { return try await compareDiscards(discards) }
    guard actions.count < news.count || discards.count != discarded.count else { return }
    discarded += news.filter { $0.hasPrefix("discard ") }.map { String($0.dropFirst(8)) }
    try check(discards.sorted(), discarded.sorted(), "discards")
  }

  /// With a journal, steps are discarded a little later, and may be again by the next process.
  private func compareDiscards(_ discards: [String]) async throws {
    if discards.count == process.discards.expected, page.log.count == process.discards.log {
      return
    }
    let expected = Set(discards)
    try await settle("\(expected.subtracting(discarded)) discarded") { [page] in
      expected.isSubset(of: discarded + page.discarded)
    }
    try check(expected, Set(discarded + page.discarded), "discards")
    process.discards = (discards.count, page.log.count)
  }

  private func compareState() throws {
    let (state, entries) = (history.state, history.entries)
    var expected = reference.state
    if reference.isLoose, !state.isClean, expected[0].hasSuffix("*") { expected[0].removeLast() }
    var layout = UseCaseHistory.layout(of: entries, state)
    // The reference moves the parts of a group, and lets go of lost ones, at the end of a move.
    if reference.isMovingGroups { (expected[0], layout) = (whole(expected[0]), whole(layout)) }
    try check(
      expected,
      [
        layout,
        "undo \(state.canUndo) \(state.undoTitle ?? "-") \(state.undoCount)",
        "redo \(state.canRedo) \(state.redoTitle ?? "-") \(state.redoCount)",
        "busy \(state.isBusy)",
      ], "state")
    if looksAtDocuments, !reference.isMovingGroups {
      for keys in Self.documents {
        let state = history.state(in: Self.footprint(keys))
        try check(
          reference.state(of: Set(keys)),
          [
            "undo \(state.canUndo) \(state.undoTitle ?? "-") \(state.undoCount)",
            "redo \(state.canRedo) \(state.redoTitle ?? "-") \(state.redoCount)",
          ], "state of \(keys)")
      }
    }
    let isLater = state.version > last.version || (state.version == last.version && state == last)
    try check(true, isLater, "the version grows")
    last = state
    for (entry, other) in zip(reference.entries, entries) {
      if !reference.isMovingGroups {
        try check(entry.part.isPartial, other.isPartial, "partial \(other.title)")
      }
      try check(ids[entry.key] ?? other.id, other.id, "identity")
      ids[entry.key] = other.id
    }
  }

  /// The layout without the parts of groups.
  private func whole(_ layout: String) -> String {
    var depth = 0
    return layout.filter { character in
      if character == ")" { depth -= 1 }
      defer { if character == "(" { depth += 1 } }
      return depth == 0 && character != "(" && character != ")"
    }
  }

  /// The document has of each key what the applied entries leave, one after the other.
  private func compareDocument() throws {
    document.take(stage.succeeded.elements.dropFirst(process.taken))
    process.taken = stage.succeeded.count
    guard reference.queue.isEmpty else { return }
    let leaves = reference.entries.flatMap(\.part.leaves).filter { !$0.isTyping }
    let names = Set(leaves.map(\.text))
    for key in ReferenceHistory.everything {
      let expected = leaves.filter { $0.isApplied && $0.keys.contains(key) }.map(\.text)
      try check(expected, document[key].filter(names.contains), "document \(key)")
    }
  }

  /// Waits until it holds. A session that fails here would hang in a test by hand.
  ///
  /// Time alone says nothing: on a busy machine the other tests may take all of it. So everything
  /// else has had many turns, too, before the session gives up.
  func settle(_ what: String, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(isPatient ? 60 : 1)
    var turns = 0
    while !condition() {
      guard turns < (isPatient ? 1_000_000 : 100_000) || .now < deadline else {
        throw Difference(description: "never: \(what)")
      }
      turns += 1
      await Task.yield()
    }
  }

  func check<Value: Equatable>(_ expected: Value, _ actual: Value, _ what: String) throws {
    guard expected != actual else { return }
    throw Difference(description: "\(what): \(actual), but expected: \(expected)")
  }

  /// All undone and all redone again is what was before, and then nothing is left.
  private func end() async throws {
    let before = history.entries.map(\.id)
    history.limit = nil
    reference.setLimit(nil)
    let count = history.state.undoCount
    for step in Array(repeating: RandomStep.undo, count: count)
      + Array(repeating: RandomStep.redo, count: count)
    {
      try await take(step)
      while !reference.queue.isEmpty { try await take(.succeed) }
      try await compare()
    }
    try check(before, history.entries.map(\.id), "all undone and redone")
    try await take(.clear)
    try await compare()
    operations = [:]
    endProcess()
    try await settle("no response is alive") { lifetimes.allSatisfy { $0.alive == 0 } }
    try checkLives()
  }

  /// Keeps what the process has done.
  func endProcess() {
    document.take(stage.succeeded.elements.dropFirst(process.taken))
    process.taken = stage.succeeded.count
    succeeded += stage.succeeded.elements
    discarded += page.discarded
    lifetimes.append(page.lifetime)
  }

  /// The log of each edit reads `do (undo redo)* undo? discard?`, what fails aside.
  private func checkLives() throws {
    var lives: [String: String] = [:]
    for action in succeeded + Set(discarded).map({ "discard \($0)" }) {
      let words = action.split(separator: " ")
      guard words[1].hasPrefix("e") else { continue }
      let text = words[1].prefix { $0 != "_" }
      lives[String(text), default: ""] += "\(words[0]) "
    }
    for (text, life) in lives {
      let words = life.split(separator: " ")
      let steps = words.last == "discard" ? words.dropLast() : words[...]
      let isGood = steps.enumerated().allSatisfy { index, word in
        word == (index == 0 ? "do" : index.isMultiple(of: 2) ? "redo" : "undo")
      }
      try check(true, isGood && !steps.isEmpty, "\(text): \(life)")
    }
  }
}
