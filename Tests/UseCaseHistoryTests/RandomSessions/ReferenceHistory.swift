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
      keys =
        text.contains("@")
        ? Set(text.drop { $0 != "@" }).intersection(ReferenceHistory.allKeys)
        : ReferenceHistory.allKeys
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
  var outcomes: [Int: String] = [:]
  var discards: [String] = []
  var log: [String] = []
  var lastAnswer = 0
  var lastKey = 0
  var lastOperation = 0
  var time = 0
  var lastRecording: Int?
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

    var undo: Token? { applied.last }
    var redo: Token? { isPartial ? applied.last : undone.first }
  }

  func guess(executionsFail: Bool = false) -> Guess {
    let (keys, cursor) = (entries.map { Token.entry($0.key) }, cursor)
    var guess = Guess(
      applied: Array(keys[..<cursor]), undone: Array(keys[cursor...]), isPartial: isPartial)
    for operation in queue { advance(&guess, by: operation, executionsFail) }
    return guess
  }

  private func advance(_ guess: inout Guess, by operation: Operation, _ executionsFail: Bool) {
    switch operation.ask {
    case .edit, .typing, .group:
      if executionsFail || operation.isCleared { return }
      guess.applied.append(.operation(operation.id))
      guess.undone = []
      guess.isPartial = false
      if let limit { guess.applied = guess.applied.suffix(limit) }
    case .undo:
      guard let target = operation.target.map(entry(of:)), target == guess.undo else { return }
      guess.undone.insert(guess.applied.removeLast(), at: 0)
      guess.isPartial = false
    case .redo:
      guard let target = operation.target.map(entry(of:)), target == guess.redo else { return }
      if !guess.isPartial { guess.applied.append(guess.undone.removeFirst()) }
      guess.isPartial = false
    case .undoEntry(let key):
      guard let index = guess.applied.firstIndex(of: .entry(key)),
        !guess.isPartial || index == guess.applied.count - 1
      else { return }
      guess.undone.insert(guess.applied.remove(at: index), at: 0)
      guess.isPartial = false
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
    }
  }

  func entry(of token: Token) -> Token {
    if case .operation(let id) = token, let key = became[id] { return .entry(key) }
    return token
  }

  var isExecuting: Bool { queue.contains { $0.ask.isExecution } }

  func target(for ask: Ask) -> Token? {
    switch ask {
    case .undo: guess().undo
    case .redo: guess().redo ?? (isExecuting ? guess(executionsFail: true).redo : nil)
    case .edit, .typing, .group, .move, .undoEntry: nil
    }
  }

  private func title(of token: Token?) -> String? {
    switch token {
    case .entry(let key): return entries.first { $0.key == key }?.part.title
    case .operation(let id):
      switch queue.first(where: { $0.id == id })?.ask {
      case .edit(let text), .typing(let text): return Self.name(text)
      case .group(let script): return script.title
      case .undo, .redo, .move, .undoEntry, nil: return nil
      }
    case nil: return nil
    }
  }

  var isClean: Bool { !isExecuting && !isMoving && !isPartial && saved == document }

  /// Whether an undo, a redo or a move runs.
  private var isMoving: Bool { queue.first?.plan != nil }

  /// All that can be seen from outside.
  var state: [String] {
    let (guess, cursor) = (guess(), cursor)
    let redo = isExecuting ? nil : guess.redo
    let applied = entries[..<cursor].map(\.part.layout)
    let undone = entries[cursor...].map(\.part.layout)
    return [
      "[\((applied + ["|"] + undone).joined(separator: " "))]\(isClean ? "*" : "")",
      "undo \(guess.undo != nil) \(title(of: guess.undo) ?? "-") \(cursor)",
      "redo \(redo != nil) \(title(of: redo) ?? "-") \(entries.count - cursor)",
      "busy \(queue.contains(where: \.hasEffect))",
    ]
  }
}

// MARK: - What is done to it at once

extension ReferenceHistory {
  func setLimit(_ limit: Int?) {
    self.limit = limit
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
    lastRecording = nil
    return isPartial || queue.first?.hasEffect == true ? nil : document
  }

  func discard(_ part: Part, _ reason: String) {
    for leaf in part.leaves { discards.append("\(leaf.text)\(leaf.answer) \(reason)") }
  }

  /// Puts a part behind the newest applied entry.
  func record(_ part: Part) -> Int {
    for entry in entries[cursor...] { discard(entry.part, "truncated") }
    entries.removeLast(entries.count - cursor)
    if isPartial, let newest = entries.last {
      for leaf in newest.part.leaves where !leaf.isApplied { discard(.leaf(leaf), "truncated") }
      if let kept = newest.part.applied { entries[cursor - 1].part = kept }
    }
    lastKey += 1
    entries.append(Entry(key: lastKey, part: part))
    let key = lastKey
    evict()
    return key
  }
}
