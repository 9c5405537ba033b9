/// A history as one would write it if nobody had to wait: no concurrency, no cleverness, everything
/// computed anew each time. The real one has to do the same.
///
/// The document is made of keys: for each, it has the list of all effects that are there. So the
/// reference knows for certain whether the document is as it was saved.
final class ReferenceHistory {
  struct Effect: Equatable {
    let number: Int
    let keys: Set<Character>
  }

  static let allKeys: Set<Character> = ["x", "y", "z"]
  /// What touches everything touches a key of its own, too.
  static let everything = allKeys.union(["*"])

  static func keys(_ text: String) -> Set<Character> {
    text.contains("@") ? Set(text.drop { $0 != "@" }).intersection(allKeys) : everything
  }

  /// The text without its footprint.
  static func name(_ text: String) -> String { String(text.prefix { $0 != "@" }) }

  final class Leaf {
    let isTyping: Bool
    var text: String
    let keys: Set<Character>
    var answer: Int
    /// The effects of which it is made: several if it was merged.
    var effects: [Effect]
    var isApplied = true
    /// Whether its undo or redo has found that it is obsolete.
    var isLost = false

    init(_ text: String, isTyping: Bool, answer: Int) {
      self.text = ReferenceHistory.name(text)
      self.isTyping = isTyping
      self.answer = answer
      keys = ReferenceHistory.keys(text)
      effects = [Effect(number: answer, keys: keys)]
    }

    var undoing: String { "undo \(text)\(answer)" }
    var redoing: String { isTyping ? "do \(text)" : "redo \(text)\(answer)" }
  }

  indirect enum Part {
    case leaf(Leaf)
    case group(String, [Part])

    var leaves: [Leaf] {
      switch self {
      case .leaf(let leaf): [leaf]
      case .group(_, let parts): parts.flatMap(\.leaves)
      }
    }

    var title: String {
      switch self {
      case .leaf(let leaf): leaf.text
      case .group(let title, _): title
      }
    }

    var isApplied: Bool { hasLeaf { $0.isApplied } }
    var isPartial: Bool { isApplied && hasLeaf { !$0.isApplied } }

    private func hasLeaf(where condition: (Leaf) -> Bool) -> Bool {
      switch self {
      case .leaf(let leaf): condition(leaf)
      case .group(_, let parts): parts.contains { $0.hasLeaf(where: condition) }
      }
    }

    var keys: Set<Character> { leaves.reduce([]) { $0.union($1.keys) } }

    /// The rest without the leaves that are undone.
    var applied: Part? { keeping(\.isApplied) }

    func keeping(_ isKept: (Leaf) -> Bool) -> Part? {
      switch self {
      case .leaf(let leaf): return isKept(leaf) ? self : nil
      case .group(let title, let parts):
        let parts = parts.compactMap { $0.keeping(isKept) }
        return parts.isEmpty ? nil : .group(title, parts)
      }
    }

    var layout: String {
      guard case .group(let title, let parts) = self else { return title }
      var layouts = parts.map(\.layout)
      if isApplied, let bar = parts.firstIndex(where: { !$0.isApplied }) {
        layouts.insert("|", at: bar)
      }
      return "\(title)(\(layouts.joined(separator: " ")))"
    }
  }

  struct Entry {
    let key: Int
    var part: Part
  }

  enum Token: Equatable {
    case entry(Int)
    case operation(Int)
  }

  var entries: [Entry] = []
  var limit: Int?
  var effects: [Effect] = []
  var saved: [[Int]]? = [[], [], [], []]
  /// Whether effects have stayed that no entry has. Then the real history is dirty rather than to
  /// look whether they lie in the way.
  var isLoose = false
  var queue: [Operation] = []
  /// The groups that were held open, by their operations.
  var held: [Int: Held] = [:]
  var outcomes: [Int: String] = [:]
  var discards: [String] = []
  var log: [String] = []
  var lastAnswer = 0
  var lastKey = 0
  var lastOperation = 0
  var time = 0
  /// When the last recording was asked for, nil if something came between.
  var lastRecording: Asked?
  var breaks = 0
  var window = 500

  struct Asked {
    let time: Int
    let window: Int
    let breaks: Int
  }

  var asked: Asked { Asked(time: time, window: window, breaks: breaks) }
  var became: [Int: Int] = [:]

  /// The effects on each key, and all.
  var document: [[Int]] {
    Self.allKeys.sorted().map { key in
      effects.filter { $0.keys.contains(key) }.map(\.number)
    } + [effects.map(\.number).sorted()]
  }

  var cursor: Int { entries.prefix { $0.part.isApplied }.count }
  var isPartial: Bool { cursor > 0 && entries[cursor - 1].part.isPartial }
}

// MARK: - What it can do

extension ReferenceHistory {
  struct Guess {
    var applied: [Token]
    var undone: [Token]
    var isPartial: Bool
    /// How many of the last undone ones have survived an execution that waits.
    var survivors = 0
    /// The one whose undone parts what waits drops.
    var settled: Token?

    /// What was forgotten while a move had it leaves with the end of the move.
    mutating func remove(_ token: Token) {
      applied.removeAll { $0 == token }
      guard let index = undone.firstIndex(of: token) else { return }
      if index >= undone.count - survivors { survivors -= 1 }
      undone.remove(at: index)
    }
  }

  func guess(executionsFail: Bool = false) -> Guess {
    let (keys, cursor) = (entries.map { Token.entry($0.key) }, cursor)
    var guess = Guess(
      applied: Array(keys[..<cursor]), undone: Array(keys[cursor...]), isPartial: isPartial)
    for operation in queue {
      advance(&guess, by: operation, executionsFail)
      for key in operation.forgotten { guess.remove(.entry(key)) }
      if operation.evictsWhenOver, operation.plan != nil, let limit {
        guess.applied = guess.applied.suffix(limit)
      }
    }
    return guess
  }

  private func advance(_ guess: inout Guess, by operation: Operation, _ executionsFail: Bool) {
    switch operation.ask {
    case .edit, .typing, .group, .held:
      if executionsFail || operation.isCleared || isRollingBack(operation) { return }
      let token = Token.operation(operation.id)
      let keys = guess.isPartial ? keys(of: token).union(undoneKeys) : keys(of: token)
      if guess.isPartial { guess.settled = guess.applied.last }
      guess.undone =
        self.keys(of: token).contains("*")
        ? [] : Self.surviving(guess.undone, keys) { self.keys(of: $0, in: guess) }
      guess.survivors = guess.undone.count
      guess.applied.append(token)
      guess.isPartial = false
      if let limit { guess.applied = guess.applied.suffix(limit) }
    case .undo:
      guard let target = operation.target.map(entry(of:)), target == guess.applied.last else {
        return
      }
      undo(target, &guess)
    case .redo:
      let next = guess.isPartial ? guess.applied.last : guess.undone.first
      guard let target = operation.target.map(entry(of:)), target == next else { return }
      redo(target, &guess)
    case .undoEntry(let key): undo(.entry(key), &guess)
    case .redoEntry(let key): redo(.entry(key), &guess)
    case .undoIn: operation.target.map(entry(of:)).map { undo($0, &guess) }
    case .redoIn: operation.target.map(entry(of:)).map { redo($0, &guess) }
    case .move(let key):
      let all = guess.applied + guess.undone
      let index = key.map { all.firstIndex(of: .entry($0)) } ?? -1
      // One that runs goes on when its goal has left.
      guard
        let index = index
          ?? operation.plan.map({ max(-1, guess.applied.count - $0.entries.count - 1) })
      else { return }
      guess.isPartial = false
      guess.applied = Array(all[...index])
      guess.undone = Array(all[(index + 1)...])
      guess.survivors = min(guess.survivors, guess.undone.count)
    }
  }

  /// Whether the parts of the group are undone, which will be no entry.
  private func isRollingBack(_ operation: Operation) -> Bool {
    guard operation === queue.first else { return false }
    switch operation.ask {
    case .group(let script):
      let run = Run(operation.verdicts, lastAnswer: lastAnswer)
      _ = run.run(script, isTop: true)
      return run.isRollingBack
    case .held(let held): return held.isRollingBack
    case .edit, .typing, .undo, .redo, .move, .undoEntry, .redoEntry, .undoIn, .redoIn:
      return false
    }
  }

  private func undo(_ token: Token, _ guess: inout Guess) {
    guard let index = guess.applied.firstIndex(of: token),
      !guess.isPartial || index == guess.applied.count - 1
    else { return }
    guess.undone.insert(guess.applied.remove(at: index), at: 0)
    guess.isPartial = false
  }

  private func redo(_ token: Token, _ guess: inout Guess) {
    if guess.isPartial {
      if token == guess.applied.last { guess.isPartial = false }
      return
    }
    guard let index = guess.undone.firstIndex(of: token) else { return }
    if index >= guess.undone.count - guess.survivors { guess.survivors -= 1 }
    guess.applied.append(guess.undone.remove(at: index))
  }

  /// Those that a new one with these keys leaves, which are in the order of redo.
  static func surviving<Element>(
    _ undone: [Element], _ keys: Set<Character>, keysOf: (Element) -> Set<Character>
  ) -> [Element] {
    var keys = keys
    return undone.filter { element in
      let own = keysOf(element)
      if own.isDisjoint(with: keys) { return true }
      keys.formUnion(own)
      return false
    }
  }

  /// The keys of the leaves that the next recording drops.
  private var undoneKeys: Set<Character> {
    guard isPartial else { return [] }
    return entries[cursor - 1].part.leaves.filter { !$0.isApplied }
      .reduce([]) { $0.union($1.keys) }
  }

  private func keys(of token: Token, in guess: Guess) -> Set<Character> {
    guard token == guess.settled, case .entry(let key) = token else { return keys(of: token) }
    return entries.first { $0.key == key }?.part.applied?.keys ?? []
  }

  private func keys(of token: Token) -> Set<Character> {
    switch token {
    case .entry(let key): return entries.first { $0.key == key }?.part.keys ?? []
    case .operation(let id):
      switch queue.first(where: { $0.id == id })?.ask {
      case .edit(let text) where !text.contains("?"): return Self.keys(text)
      default: return Self.everything
      }
    }
  }

  /// The document of nil is the whole history.
  private func undoTarget(_ document: Set<Character>?, in guess: Guess) -> Token? {
    guard let document else { return guess.applied.last }
    return guess.applied.last { !keys(of: $0, in: guess).isDisjoint(with: document) }
  }

  private func redoTarget(
    _ document: Set<Character>?, in guess: Guess
  ) -> (token: Token, isFresh: Bool)? {
    if guess.isPartial, let last = guess.applied.last,
      document.map({ !keys(of: last).isDisjoint(with: $0) }) != false
    {
      return (last, true)
    }
    let index = guess.undone.firstIndex { token in
      document.map { !keys(of: token, in: guess).isDisjoint(with: $0) } != false
    }
    return index.map { (guess.undone[$0], $0 < guess.undone.count - guess.survivors) }
  }

  func entry(of token: Token) -> Token {
    if case .operation(let id) = token, let key = became[id] { return .entry(key) }
    return token
  }

  var isExecuting: Bool { queue.contains { $0.ask.isExecution } }

  func target(for ask: Ask) -> Token? {
    switch ask {
    case .undo: undoTarget(nil, in: guess())
    case .undoIn(let document): undoTarget(document, in: guess())
    case .redo: redoTarget(in: nil)
    case .redoIn(let document): redoTarget(in: document)
    case .edit, .typing, .group, .held, .move, .undoEntry, .redoEntry: nil
    }
  }

  private func redoTarget(in document: Set<Character>?) -> Token? {
    if let target = redoTarget(document, in: guess()), target.isFresh { return target.token }
    return isExecuting ? redoTarget(document, in: guess(executionsFail: true))?.token : nil
  }

  private func title(of token: Token?) -> String? {
    switch token {
    case .entry(let key): return entries.first { $0.key == key }?.part.title
    case .operation(let id):
      switch queue.first(where: { $0.id == id })?.ask {
      case .edit(let text), .typing(let text): return Self.name(text)
      case .group(let script): return script.title
      case .held(let held): return held.title
      default: return nil
      }
    case nil: return nil
    }
  }

  var isClean: Bool { !isExecuting && !isMoving && !isPartial && saved == document }

  /// Whether an undo, a redo or a move runs.
  private var isMoving: Bool { queue.first?.plan != nil }

  /// Whether it does so among groups.
  var isMovingGroups: Bool {
    guard let plan = queue.first?.plan else { return false }
    return (entries + plan.entries).contains { if case .group = $0.part { true } else { false } }
  }

  /// Whether a group runs, and the newest entry is half undone.
  var isInGroupOverHalf: Bool {
    switch queue.first?.ask {
    case .group, .held: isPartial
    default: false
    }
  }

  /// All that can be seen from outside.
  var state: [String] {
    let (guess, cursor) = (guess(), cursor)
    let (undo, redo) = (
      undoTarget(nil, in: guess), isExecuting ? nil : redoTarget(nil, in: guess)?.token
    )
    let applied = entries[..<cursor].map(\.part.layout)
    let undone = entries[cursor...].map(\.part.layout)
    return [
      "[\((applied + ["|"] + undone).joined(separator: " "))]\(isClean ? "*" : "")",
      "undo \(undo != nil) \(title(of: undo) ?? "-") \(cursor)",
      "redo \(redo != nil) \(title(of: redo) ?? "-") \(entries.count - cursor)",
      "busy \(queue.contains(where: \.hasEffect))",
    ]
  }

  private func isUndoBlocked(_ token: Token) -> Bool {
    guard let index = entries.firstIndex(where: { .entry($0.key) == token }), index < cursor
    else { return false }
    let keys = entries[index].part.keys
    return isPartial && index < cursor - 1
      || entries[(index + 1)..<cursor].contains { !$0.part.keys.isDisjoint(with: keys) }
  }

  private func isRedoBlocked(_ token: Token) -> Bool {
    guard let index = entries.firstIndex(where: { .entry($0.key) == token }), index >= cursor
    else { return false }
    let keys = entries[index].part.keys
    return isPartial || entries[cursor..<index].contains { !$0.part.keys.isDisjoint(with: keys) }
  }

  /// All that can be seen of a document. A target that is blocked now is none.
  func state(of document: Set<Character>) -> [String] {
    let (guess, cursor) = (guess(), cursor)
    var undo = undoTarget(document, in: guess)
    var redo = redoTarget(document, in: guess)?.token
    if let token = undo, isUndoBlocked(token) { undo = nil }
    if let token = redo, isRedoBlocked(token) { redo = nil }
    let isInside = entries.map { !$0.part.keys.isDisjoint(with: document) }
    return [
      "undo \(undo != nil) \(title(of: undo) ?? "-") \(isInside[..<cursor].count { $0 })",
      "redo \(redo != nil) \(title(of: redo) ?? "-") \(isInside[cursor...].count { $0 })",
    ]
  }
}

// MARK: - What is done to it at once

extension ReferenceHistory {
  func setLimit(_ limit: Int?) {
    let isLower = limit ?? .max < self.limit ?? .max
    self.limit = limit
    guard isLower else { return }
    queue.first?.evictsWhenOver = true
    evict()
  }

  func evict() {
    guard let limit else { return }
    while cursor > limit, queue.first?.holds(entries[0].key) != true {
      discard(entries.removeFirst().part, "evicted")
    }
  }

  func forget(_ key: Int) {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
    lastRecording = nil
    if let operation = queue.first, operation.holds(key) {
      return operation.forgotten.append(key)
    }
    let entry = entries.remove(at: index)
    if entry.part.isApplied { isLoose = true }
    discard(entry.part, "forgotten")
  }

  func clear() {
    for entry in entries where queue.first?.holds(entry.key) != true {
      discard(entry.part, "cleared")
    }
    entries = []
    lastRecording = nil
    became = [:]
    for operation in queue where operation.plan == nil { operation.target = nil }
    queue.first?.isCleared = true
  }

  /// Nil inside of a group that is half undone, and while something runs.
  func savePoint() -> [[Int]]? {
    breaks += 1
    if queue.first?.hasEffect == true { return nil }
    lastRecording = nil
    return isPartial ? nil : document
  }

  func discard(_ part: Part, _ reason: String) {
    for leaf in part.leaves { discards.append("\(leaf.text)\(leaf.answer) \(reason)") }
  }

  /// Something with these keys is recorded.
  func truncate(_ keys: Set<Character>) {
    let undone = Array(entries[cursor...])
    let kept =
      keys.contains("*") ? [] : Self.surviving(undone, keys.union(undoneKeys)) { $0.part.keys }
    for entry in undone where !kept.contains(where: { $0.key == entry.key }) {
      discard(entry.part, "truncated")
    }
    entries.replaceSubrange(cursor..., with: kept)
    if isPartial {
      let newest = entries[cursor - 1]
      for leaf in newest.part.leaves where !leaf.isApplied { discard(.leaf(leaf), "truncated") }
      if let kept = newest.part.applied { entries[cursor - 1].part = kept }
    }
  }

  /// Puts a part behind the newest applied entry.
  func record(_ part: Part) -> Int {
    truncate(part.keys)
    lastKey += 1
    entries.insert(Entry(key: lastKey, part: part), at: cursor)
    let key = lastKey
    evict()
    return key
  }
}
