extension ReferenceHistory {
  /// One operation from its beginning, with the verdicts that it has had so far.
  final class Run {
    enum Failure: CustomStringConvertible {
      case action(String)
      case body(String)
      case cancellation
      /// A group of the parts that could not be undone is left. Inside is the cause.
      indirect case group(Failure)

      var description: String {
        switch self {
        case .action(let action): "failed \(action)"
        case .body(let title): "failed \(title)"
        case .cancellation: "cancelled"
        case .group(let cause): "group, \(cause)"
        }
      }

      /// The failure once another group has the rest.
      var cause: Self {
        if case .group(let cause) = self { cause } else { self }
      }
    }

    /// The parts of a group that are applied in the end, and its failure.
    typealias Rest = (parts: [Part], failure: Failure?)

    private var verdicts: ArraySlice<Verdict>
    private var isCancelled = false
    private(set) var isWaiting = false
    /// Whether it undoes the parts of the whole group, not only those of one in it.
    private(set) var isRollingBack = false
    /// Whether the last action has found that its thing is gone.
    private(set) var isObsolete = false
    /// The effects of parts that could not be rolled back because they were obsolete.
    private(set) var lost: [Effect] = []
    private(set) var log: [String] = []
    private(set) var discards: [String] = []
    private(set) var lastAnswer: Int
    /// Whether the process ends at the action of which nobody knows what becomes.
    private let isInterrupted: Bool

    init(_ verdicts: [Verdict], lastAnswer: Int, isInterrupted: Bool = false) {
      self.verdicts = verdicts[...]
      self.lastAnswer = lastAnswer
      self.isInterrupted = isInterrupted
    }

    /// Returns whether the action succeeds, nil if that is not known yet.
    func act(_ action: String) -> Bool? {
      log.append(action)
      while let verdict = verdicts.popFirst() {
        switch verdict {
        case .cancel: isCancelled = true
        case .failure, .obsolete:
          isObsolete = verdict == .obsolete
          return false
        case .success:
          if !action.hasPrefix("undo") { lastAnswer += 1 }
          return true
        }
      }
      isWaiting = true
      return nil
    }

    /// Undoes or redoes a leaf. Returns whether it did.
    func step(_ leaf: Leaf, _ isRedo: Bool, commits: Bool) -> Bool {
      guard act(isRedo ? leaf.redoing : leaf.undoing) == true else { return false }
      if commits {
        leaf.isApplied = isRedo
        if isRedo { leaf.answer = lastAnswer }
      }
      return true
    }

    /// Runs a group. Returns the parts that are applied in the end and the failure, nil if it has
    /// not ended yet. One that is interrupted ends where it is.
    func run(_ script: Script, isTop: Bool) -> Rest? {
      var parts: [Part] = []
      var failure: Failure?
      for item in script.items {
        var itemFailure: Failure?
        switch item {
        case .edit(let text):
          guard let isGood = execute(text, into: &parts) else { return interrupted(parts) }
          if !isGood { itemFailure = .action("do \(ReferenceHistory.name(text))") }
        case .group(let script):
          guard let nested = run(script, isTop: false) else { return nil }
          if !nested.parts.isEmpty { parts.append(.group(script.title, nested.parts)) }
          itemFailure = nested.failure?.cause
        case .held(let title, let texts, let isCancelled):
          guard let held = hold(texts, isCancelled) else { return nil }
          if !held.parts.isEmpty { parts.append(.group(title, held.parts)) }
          itemFailure = held.failure?.cause
        }
        if isWaiting { return interrupted(parts) }
        // The body hears of its cancellation first, the item goes on to its end.
        if isTop, isCancelled { itemFailure = .cancellation }
        if !script.isTolerant || (isTop && isCancelled) { failure = itemFailure }
        if failure != nil { break }
      }
      if failure == nil, script.throwsAtEnd { failure = .body(script.title) }
      guard let failure else { return (parts, nil) }
      isRollingBack = isTop
      return rollBack(parts, failure)
    }

    private func execute(_ text: String, into parts: inout [Part]) -> Bool? {
      let isGood = act("do \(ReferenceHistory.name(text))")
      if isGood == true {
        parts.append(.leaf(Leaf(text, isTyping: false, answer: lastAnswer)))
      }
      return isGood
    }

    private func interrupted(_ parts: [Part]) -> Rest? {
      isInterrupted ? (parts, nil) : nil
    }

    /// Runs a group that is held open. It goes on when a part fails.
    private func hold(_ texts: [String], _ isCancelled: Bool) -> Rest? {
      var parts: [Part] = []
      for text in texts {
        if execute(text, into: &parts) == nil { return interrupted(parts) }
      }
      return isCancelled ? rollBack(parts, .cancellation) : (parts, nil)
    }

    func rollBack(_ parts: [Part], _ failure: Failure) -> Rest? {
      let leaves = parts.flatMap(\.leaves)
      var left = leaves.count
      while left > 0 {
        guard let isGood = act(leaves[left - 1].undoing) else {
          if isInterrupted { break }
          return nil
        }
        if !isGood, !isObsolete { break }
        left -= 1
        leaves[left].isLost = !isGood
      }
      for leaf in leaves[left...] {
        leaf.isApplied = false
        if leaf.isLost { lost += leaf.effects }
        discards.append("\(leaf.text)\(leaf.answer) \(leaf.isLost ? "obsolete" : "truncated")")
      }
      return (parts.compactMap(\.applied), left > 0 ? .group(failure) : failure)
    }
  }
}
