extension ReferenceHistory {
  /// The acts of a group: edits, groups, and perhaps an error at its end.
  struct Script: CustomStringConvertible, Sendable {
    enum Item: Sendable {
      case edit(String)
      case group(Script)
      /// A group that is opened, and closed after these edits, or cancelled.
      case held(String, [String], isCancelled: Bool)
    }

    let title: String
    let items: [Item]
    /// Whether the body goes on when an item fails.
    let isTolerant: Bool
    let throwsAtEnd: Bool

    var description: String {
      let items = items.map { item in
        switch item {
        case .edit(let text): text
        case .group(let script): script.description
        case .held(let title, let texts, let isCancelled):
          "\(title)<\(texts.joined(separator: " "))\(isCancelled ? "!" : "")>"
        }
      }
      return "\(title)(\(items.joined(separator: " "))\(isTolerant ? "?" : "")"
        + "\(throwsAtEnd ? "!" : ""))"
    }

    /// Whether groups are held open in it.
    var holds: Bool {
      items.contains { item in
        switch item {
        case .edit: false
        case .group(let script): script.holds
        case .held: true
        }
      }
    }
  }

  enum Ask {
    case edit(String)
    case typing(String)
    case group(Script)
    case held(Held)
    case undo
    case redo
    case move(Int?)
    case undoEntry(Int)
    case redoEntry(Int)
    case undoIn(Set<Character>)
    case redoIn(Set<Character>)

    var isExecution: Bool {
      switch self {
      case .edit, .typing, .group, .held: true
      case .undo, .redo, .move, .undoEntry, .redoEntry, .undoIn, .redoIn: false
      }
    }
  }

  enum Verdict { case success, failure, obsolete, cancel }

  final class Operation {
    struct Plan {
      let isRedo: Bool
      let entries: [Entry]
    }

    let id: Int
    let ask: Ask
    let asked: Asked
    var target: Token?
    /// The verdicts that its actions were told while it ran, in order.
    var verdicts: [Verdict] = []
    var isCleared = false
    var clearsWhenOver = false
    var evictsWhenOver = false
    var forgotten: [Int] = []
    var plan: Plan?
    /// Whether its move has changed the document.
    var hasChanged = false

    init(id: Int, ask: Ask, asked: Asked, target: Token?) {
      self.id = id
      self.ask = ask
      self.asked = asked
      self.target = target
    }

    var isCancelled: Bool { verdicts.contains(.cancel) }

    var hasEffect: Bool {
      switch ask {
      case .edit, .typing, .group, .held, .move, .undoEntry, .redoEntry: true
      case .undo, .redo, .undoIn, .redoIn: target != nil
      }
    }

    func holds(_ key: Int) -> Bool { plan?.entries.contains { $0.key == key } == true }
  }

  func ask(_ ask: Ask) -> Int {
    lastOperation += 1
    let target = target(for: ask)
    queue.append(Operation(id: lastOperation, ask: ask, asked: asked, target: target))
    if queue.count == 1 { begin() }
    return lastOperation
  }

  /// Cancels one that waits, or tells the one that runs.
  func cancel(at index: Int) {
    if case .held(let held) = queue[index].ask { return cancel(held, at: index) }
    if index == 0 {
      queue[0].verdicts.append(.cancel)
    } else {
      outcomes[queue.remove(at: index).id] = "cancelled"
    }
  }

  /// Tells the action that is waiting what becomes of it.
  func tell(_ verdict: Verdict) {
    if case .held(let held) = queue[0].ask, let part = held.running {
      end(part, of: held, verdict)
    } else {
      queue[0].verdicts.append(verdict)
    }
    goOn()
  }

  /// The next one in the queue runs until it waits.
  private func begin() {
    guard let operation = queue.first else { return }
    switch operation.ask {
    case .edit, .typing, .group, .held: return goOn()
    case .undo, .redo: beginMove(by: 1)
    case .move(let key):
      let index = key.map { key in entries.firstIndex { $0.key == key } } ?? -1
      guard let index else { return end(with: "unknown") { self.lastRecording = nil } }
      beginMove(by: index + 1 - cursor)
    case .undoEntry(let key):
      guard let index = entries.firstIndex(where: { $0.key == key }) else {
        return end(with: "unknown") { self.lastRecording = nil }
      }
      guard index < cursor else { return end(with: "nil") {} }
      beginUndo(at: index)
    case .redoEntry(let key):
      guard let index = entries.firstIndex(where: { $0.key == key }) else {
        return end(with: "unknown") { self.lastRecording = nil }
      }
      guard isUndone(index) else { return end(with: "nil") {} }
      beginRedo(at: index)
    case .undoIn(let document): begin(in: document) { $0 < cursor ? beginUndo(at: $0) : nil }
    case .redoIn(let document): begin(in: document) { isUndone($0) ? beginRedo(at: $0) : nil }
    }
  }

  private func isUndone(_ index: Int) -> Bool {
    index >= cursor || (isPartial && index == cursor - 1)
  }

  private func begin(in document: Set<Character>, _ body: (Int) -> Void?) {
    guard let target = queue[0].target.map(entry(of:)) else { return end(with: "nil") {} }
    let index = entries.firstIndex { .entry($0.key) == target }
    if let index, !entries[index].part.keys.isDisjoint(with: document), body(index) != nil {
      return
    }
    end(with: "outOfTurn") { self.lastRecording = nil }
  }

  private func beginUndo(at index: Int) {
    let isBlocked = isPartial && index < cursor - 1
    begin(at: index, isRedo: false, behind: isBlocked ? nil : entries[(index + 1)..<cursor])
  }

  private func beginRedo(at index: Int) {
    let isBlocked = isPartial && index != cursor - 1
    let sooner = isPartial ? [] : entries[cursor..<index]
    begin(at: index, isRedo: true, behind: isBlocked ? nil : sooner)
  }

  /// Nil if a group that is half undone blocks all.
  private func begin(at index: Int, isRedo: Bool, behind others: ArraySlice<Entry>?) {
    let entry = entries[index]
    let blockers =
      others?.filter { !$0.part.keys.isDisjoint(with: entry.part.keys) } ?? [entries[cursor - 1]]
    guard blockers.isEmpty else {
      return end(with: "blocked \(blockers.map(\.key))") { self.lastRecording = nil }
    }
    queue[0].plan = .init(isRedo: isRedo, entries: [entry])
    lastRecording = nil
    goOn()
  }

  private func beginMove(by distance: Int) {
    let operation = queue[0]
    var isRedo = distance > 0 || (distance == 0 && isPartial)
    switch operation.ask {
    case .undo, .redo:
      guard let target = operation.target.map(entry(of:)) else { return end(with: "nil") {} }
      if case .undo = operation.ask { isRedo = false }
      let index = isRedo && !isPartial ? cursor : cursor - 1
      guard entries.indices.contains(index), target == .entry(entries[index].key) else {
        return end(with: "outOfTurn") { self.lastRecording = nil }
      }
      operation.plan = .init(isRedo: isRedo, entries: [entries[index]])
    case .edit, .typing, .group, .held, .move, .undoEntry, .redoEntry, .undoIn, .redoIn:
      let range =
        isRedo ? (isPartial ? cursor - 1 : cursor)..<cursor + distance : cursor + distance..<cursor
      guard !range.isEmpty else { return end(with: "[]") {} }
      let between = Array(entries[range])
      operation.plan = .init(isRedo: isRedo, entries: isRedo ? between : between.reversed())
    }
    lastRecording = nil
    goOn()
  }

  /// Runs the operation from its beginning with all verdicts so far. If they do not suffice, it
  /// waits; else it has ended.
  func goOn() {
    let run = Run(queue[0].verdicts, lastAnswer: lastAnswer)
    switch queue[0].ask {
    case .edit(let text): execute(text, isTyping: false, run)
    case .typing(let text): execute(text, isTyping: true, run)
    case .group(let script): execute(script, run)
    case .held(let held): hold(held, run)
    case .undo, .redo, .move, .undoEntry, .redoEntry, .undoIn, .redoIn: move(run)
    }
  }

  /// The log as it is, with what the running operation has done up to now.
  var present: (log: [String], discards: [String]) {
    guard let operation = queue.first else { return (log, discards) }
    let run = Run(operation.verdicts, lastAnswer: lastAnswer)
    switch operation.ask {
    case .edit(let text), .typing(let text): _ = run.act("do \(Self.name(text))")
    case .group(let script): _ = run.run(script, isTop: true)
    case .held(let held): if held.isRollingBack { _ = run.rollBack(held.parts, .cancellation) }
    case .undo, .redo, .move, .undoEntry, .redoEntry, .undoIn, .redoIn:
      guard let plan = operation.plan else { break }
      tryOut(plan, run)
    }
    return (log + run.log, discards + run.discards)
  }

  func end(with outcome: String, _ change: () -> Void) {
    let operation = queue[0]
    change()
    let wasMove = operation.plan != nil
    operation.plan = nil
    operation.forgotten.forEach(forget)
    if operation.evictsWhenOver, wasMove { evict() }
    clearIfAsked()
    outcomes[operation.id] = operation.isCancelled ? "cancelled" : outcome
    queue.removeFirst()
    begin()
  }
}

// MARK: - Executions

extension ReferenceHistory {
  private func execute(_ text: String, isTyping: Bool, _ run: Run) {
    guard let isGood = run.act("do \(Self.name(text))") else { return }
    commit(run)
    guard isGood else {
      return end(with: "failed do \(Self.name(text))") { self.lastRecording = nil }
    }
    let leaf = Leaf(text, isTyping: isTyping, answer: lastAnswer)
    let operation = queue[0]
    clearIfAsked()
    end(with: "\(lastAnswer)") {
      if operation.isCleared {
        effects += leaf.effects
        discard(.leaf(leaf), "cleared")
      } else {
        record(leaf, by: operation)
      }
    }
  }

  private func record(_ leaf: Leaf, by operation: Operation) {
    effects += leaf.effects
    let previous = lastRecording
    let asked = operation.asked
    lastRecording = asked
    guard let previous, asked.time - previous.time <= asked.window, leaf.isTyping,
      asked.breaks == previous.breaks,
      cursor > 0, case .leaf(let newest) = entries[cursor - 1].part, newest.isTyping
    else {
      became[operation.id] = record(.leaf(leaf))
      return
    }
    if newest.text.uppercased() == leaf.text {
      truncate(leaf.keys)
      discard(.leaf(newest), "annulled")
      discard(.leaf(leaf), "annulled")
      effects.removeLast(newest.effects.count + leaf.effects.count)
      entries.remove(at: cursor - 1)
      lastRecording = nil
    } else if leaf.text == leaf.text.lowercased() {
      truncate(leaf.keys)
      discard(.leaf(leaf), "merged")
      newest.text += leaf.text
      newest.answer = leaf.answer
      newest.effects += leaf.effects
      became[operation.id] = entries[cursor - 1].key
    } else {
      became[operation.id] = record(.leaf(leaf))
    }
  }

  private func execute(_ script: Script, _ run: Run) {
    guard let (parts, failure) = run.run(script, isTop: true) else { return }
    let key = endGroup(script.title, parts, run)
    let operation = queue[0].id
    end(with: failure.map { "\($0)" } ?? "done") {
      if failure == nil { became[operation] = key }
    }
  }

  /// The parts of the group that has the lane become an entry. Returns its key.
  func endGroup(_ title: String, _ parts: [Part], _ run: Run) -> Int? {
    commit(run)
    lastRecording = nil
    discards += run.discards
    clearIfAsked()
    if !run.lost.isEmpty { isLoose = true }
    defer { effects += run.lost }
    guard !parts.isEmpty else { return nil }
    let group = Part.group(title, parts)
    effects += group.leaves.flatMap(\.effects)
    if !queue[0].isCleared { return record(group) }
    discard(group, "cleared")
    return nil
  }

  private func clearIfAsked() {
    guard queue[0].clearsWhenOver else { return }
    queue[0].clearsWhenOver = false
    clear()
  }

  func commit(_ run: Run) {
    log += run.log
    lastAnswer = run.lastAnswer
  }
}

// MARK: - Moves

extension ReferenceHistory {
  private func steps(of plan: Operation.Plan) -> [Leaf] {
    plan.entries.flatMap { entry in
      let leaves = entry.part.leaves.filter { $0.isApplied != plan.isRedo }
      return plan.isRedo ? leaves : leaves.reversed()
    }
  }

  /// Goes through the steps as far as the verdicts tell, and changes nothing.
  private func tryOut(_ plan: Operation.Plan, _ run: Run) {
    for leaf in steps(of: plan) where !run.step(leaf, plan.isRedo, commits: false) {
      guard run.isObsolete, !run.isWaiting, isPart(leaf, in: plan) else { return }
    }
  }

  private func isPart(_ leaf: Leaf, in plan: Operation.Plan) -> Bool {
    !plan.entries.contains { entry in
      if case .leaf(let single) = entry.part { single === leaf } else { false }
    }
  }

  private func move(_ run: Run) {
    guard let plan = queue[0].plan else { return }
    let steps = steps(of: plan)
    // First see whether it comes to an end.
    let trial = Run(queue[0].verdicts, lastAnswer: lastAnswer)
    tryOut(plan, trial)
    guard !trial.isWaiting else { return }
    let operation = queue[0]
    let (moved, obsolete) = carryOut(plan, of: operation, run)
    let left = plan.entries.filter { $0.part.keeping { !$0.isLost } != nil }
    let isSingle = if case .move = operation.ask { false } else { true }
    var outcome = "[\(left.map(\.part.title).joined(separator: " "))]"
    if isSingle, let title = left.first?.part.title { outcome = title }
    if let obsolete, left.isEmpty { outcome = "obsolete \(obsolete)" }
    if moved < steps.count {
      outcome = "\(run.isObsolete ? "obsolete" : "failed") \(run.log.last ?? "")"
    }
    end(with: outcome) { self.finish(plan, of: operation, moved) }
  }

  /// Goes through the steps as far as the verdicts tell. Returns how many there were, and the first
  /// one that was obsolete.
  func carryOut(
    _ plan: Operation.Plan, of operation: Operation, _ run: Run
  ) -> (moved: Int, obsolete: String?) {
    var (moved, obsolete) = (0, String?.none)
    for leaf in steps(of: plan) {
      if run.step(leaf, plan.isRedo, commits: true) {
        operation.hasChanged = true
        if plan.isRedo { effects += leaf.effects } else { takeBack(leaf) }
      } else if run.isObsolete, !run.isWaiting {
        leaf.isLost = true
        // A part that can't be redone has no effect; one that can't be undone keeps it, without its entry.
        if !plan.isRedo { (isLoose, operation.hasChanged) = (true, true) }
        if obsolete == nil { obsolete = run.log.last }
        guard isPart(leaf, in: plan) else { break }
      } else {
        break
      }
      moved += 1
    }
    commit(run)
    return (moved, obsolete)
  }

  /// The effects of the leaf are there no more, and nothing above them was built on them.
  private func takeBack(_ leaf: Leaf) {
    effects.removeAll { leaf.effects.contains($0) }
  }

  func finish(_ plan: Operation.Plan, of operation: Operation, _ moved: Int) {
    guard !operation.isCleared else {
      // Nobody knows any more where the document is.
      if operation.hasChanged { effects.append(Effect(number: -operation.id, keys: [])) }
      for entry in plan.entries {
        for leaf in entry.part.leaves {
          discard(.leaf(leaf), leaf.isLost ? "obsolete" : "cleared")
        }
      }
      return
    }
    for entry in plan.entries {
      guard let index = entries.firstIndex(where: { $0.key == entry.key }) else { continue }
      for leaf in entry.part.leaves where leaf.isLost { discard(.leaf(leaf), "obsolete") }
      guard let part = entry.part.keeping({ !$0.isLost }) else {
        entries.remove(at: index)
        continue
      }
      entries[index].part = part
      if moved == 0 { continue }
      if case .move = operation.ask { continue }
      let moving = entries.remove(at: index)
      entries.insert(moving, at: cursor)
    }
  }
}
