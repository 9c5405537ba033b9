/// Groups that are held open: a drag, a stroke, a dialog.
extension ReferenceHistory {
  final class Held: CustomStringConvertible {
    enum Phase { case open, closed, cancelled }

    struct Ask {
      let operation: Int
      let text: String
      var isCancelled = false
    }

    let title: String
    var phase = Phase.open
    var waiting: [Ask] = []
    var running: Ask?
    var parts: [Part] = []

    init(_ title: String) { self.title = title }

    var description: String { "\(title)<\(parts.map(\.layout).joined(separator: " "))" }

    /// Whether its parts are undone, if it has the lane.
    var isRollingBack: Bool { phase == .cancelled && running == nil }
  }

  /// Whether an action waits for a verdict.
  var isActing: Bool {
    guard case .held(let held) = queue.first?.ask else { return !queue.isEmpty }
    return held.running != nil || held.isRollingBack
  }

  func openGroup(_ title: String) -> Int {
    let group = Held(title)
    // It may begin at once, but nothing ends yet.
    let operation = ask(.held(group))
    held[operation] = group
    return operation
  }

  /// Returns the operation of the part.
  func execute(_ text: String, in group: Int) -> Int {
    lastOperation += 1
    guard let held = held[group], held.phase == .open else {
      outcomes[lastOperation] = "outOfTurn"
      return lastOperation
    }
    held.waiting.append(.init(operation: lastOperation, text: text))
    if queue.first?.id == group { goOn() }
    return lastOperation
  }

  func close(_ group: Int) {
    guard let held = held[group], held.phase == .open else { return }
    held.phase = .closed
    if queue.first?.id == group { goOn() }
  }

  /// Cancels the group, but none that is closed.
  func cancelGroup(_ group: Int) {
    guard let held = held[group], held.phase == .open,
      let index = queue.firstIndex(where: { $0.id == group })
    else { return }
    cancel(held, at: index, isOperation: false)
  }

  /// Cancels the operation of the group, or the group.
  func cancel(_ held: Held, at index: Int, isOperation: Bool = true) {
    // A part that is undone already goes on.
    if isOperation { queue[index].verdicts.append(.cancel) }
    if held.phase == .cancelled { return }
    held.phase = .cancelled
    for part in held.waiting { outcomes[part.operation] = "cancelled" }
    held.waiting = []
    if index == 0 { return goOn() }
    outcomes[queue.remove(at: index).id] = "cancelled"
  }

  /// Cancels the operation of a part that waits or runs.
  func cancelPart(_ operation: Int, of group: Int) {
    guard let held = held[group] else { return }
    if held.running?.operation == operation {
      held.running?.isCancelled = true
    } else if let index = held.waiting.firstIndex(where: { $0.operation == operation }) {
      held.waiting.remove(at: index)
      outcomes[operation] = "cancelled"
    }
  }

  /// The part that runs has ended.
  func end(_ part: Held.Ask, of held: Held, _ verdict: Verdict) {
    held.running = nil
    let isGood = verdict == .success
    if isGood {
      lastAnswer += 1
      held.parts.append(.leaf(Leaf(part.text, isTyping: false, answer: lastAnswer)))
    }
    outcomes[part.operation] =
      part.isCancelled
      ? "cancelled" : isGood ? "\(lastAnswer)" : "failed do \(Self.name(part.text))"
  }

  /// The group has the lane.
  func hold(_ held: Held, _ run: Run) {
    if held.running == nil, !held.waiting.isEmpty {
      let part = held.waiting.removeFirst()
      held.running = part
      log.append("do \(Self.name(part.text))")
    }
    guard held.running == nil, held.phase != .open else { return }
    var (parts, failure) = (held.parts, Run.Failure?.none)
    if held.isRollingBack {
      guard let rest = run.rollBack(held.parts, .cancellation) else { return }
      (parts, failure) = rest
    }
    let key = endGroup(held.title, parts, run)
    let operation = queue[0].id
    let isThere = entries.contains { $0.key == key }
    end(with: failure.map { "\($0)" } ?? (isThere ? held.title : "nil")) {
      if failure == nil { became[operation] = key }
    }
  }
}

// MARK: - The end of the process

extension ReferenceHistory {
  /// The process ends, and the next one opens the history of its journal. What runs may have had its
  /// effect, and a group may be kept, or compensated with these verdicts, and then with success.
  ///
  /// Returns the actions of the next process, with which its log begins.
  func reopen(hadEffect: Bool, keepsGroups: Bool, _ verdicts: [Verdict]) -> [String] {
    log = []
    (outcomes, held, became, lastRecording) = ([:], [:], [:], nil)
    let running = queue.first
    queue = []
    var actions: [String] = []
    if let running {
      if hadEffect { tellLast(running) }
      actions = interrupt(running, keepsGroups, verdicts)
    }
    log = actions
    return actions
  }

  private func tellLast(_ operation: Operation) {
    if case .held(let held) = operation.ask, let part = held.running {
      end(part, of: held, .success)
      outcomes = [:]
    } else {
      operation.verdicts.append(.success)
    }
  }

  private func interrupt(
    _ operation: Operation, _ keepsGroups: Bool, _ verdicts: [Verdict]
  ) -> [String] {
    let run = Run(operation.verdicts, lastAnswer: lastAnswer, isInterrupted: true)
    switch operation.ask {
    case .edit(let text): interrupt(text, isTyping: false, run, operation)
    case .typing(let text): interrupt(text, isTyping: true, run, operation)
    case .group(let script):
      let parts = run.run(script, isTop: true)?.parts ?? []
      return interrupt(Part.group(script.title, parts), run, operation, keepsGroups, verdicts)
    case .held(let held):
      let parts =
        held.isRollingBack
        ? run.rollBack(held.parts, .cancellation)?.parts ?? [] : held.parts
      return interrupt(Part.group(held.title, parts), run, operation, keepsGroups, verdicts)
    case .undo, .redo, .move, .undoEntry, .redoEntry, .undoIn, .redoIn:
      guard let plan = operation.plan else { break }
      let (moved, _) = carryOut(plan, of: operation, run)
      finish(plan, of: operation, moved)
      operation.forgotten.forEach(forget)
    }
    return []
  }

  /// It doesn't merge.
  private func interrupt(
    _ text: String, isTyping: Bool, _ run: Run, _ operation: Operation
  ) {
    guard run.act("do") == true else { return }
    lastAnswer = run.lastAnswer
    let leaf = Leaf(text, isTyping: isTyping, answer: lastAnswer)
    effects += leaf.effects
    if operation.isCleared { discard(.leaf(leaf), "cleared") } else { _ = record(.leaf(leaf)) }
  }

  private func interrupt(
    _ group: Part, _ run: Run, _ operation: Operation, _ keepsGroups: Bool, _ verdicts: [Verdict]
  ) -> [String] {
    guard case .group(let title, var parts) = group else { return [] }
    var actions: [String] = []
    lastAnswer = run.lastAnswer
    lose(run)
    if !keepsGroups {
      let more = Array(repeating: Verdict.success, count: group.leaves.count)
      let run = Run(verdicts + more, lastAnswer: lastAnswer)
      parts = run.rollBack(parts, .cancellation)?.parts ?? []
      lose(run)
      actions = run.log
    }
    guard !parts.isEmpty else { return actions }
    let rest = Part.group(title, parts)
    effects += rest.leaves.flatMap(\.effects)
    if keepsGroups, operation.isCleared { discard(rest, "cleared") } else { _ = record(rest) }
    return actions
  }

  private func lose(_ run: Run) {
    discards += run.discards
    if !run.lost.isEmpty { isLoose = true }
    effects += run.lost
  }
}
