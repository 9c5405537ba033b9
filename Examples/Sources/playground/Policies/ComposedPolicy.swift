import UseCase

/// A policy that is put together on the page.
struct ComposedPolicy: Codable, Checked, Hashable, Sendable {
  enum Rule: String, Codable, CaseIterable {
    case wait, cancelPrevious, cancelPreviousAndWait, drop, keepLatest
  }

  var rule = Rule.keepLatest
  var limit = 1

  /// In milliseconds; 0 for none.
  var debounce = 300
  /// The longest that a debounce lasts, in milliseconds; 0 for no end.
  var longest = 1000

  var starts = 1
  /// The time in which there are at most so many starts, in milliseconds; 0 for any number.
  var interval = 0

  /// How many may wait; nil for any number.
  var waiting: Int?
  var isByPriority = false

  /// A sentence about what cannot be combined. Without it, the policy would trap.
  var complaint: String? {
    guard (1...9).contains(limit), (1...9).contains(starts) else {
      return "The limit and the number of starts are 1 to 9."
    }
    guard [debounce, longest, interval].allSatisfy((0...10_000).contains) else {
      return "A time is 0 to 10000 milliseconds."
    }
    if let waiting, !(0...99).contains(waiting) { return "0 to 99 may wait." }
    let hasLine = rule == .wait
    guard hasLine || waiting == nil && !isByPriority else {
      return "Only under the rule “wait” is there a line to be bounded or put in order."
    }
    guard debounce > 0 else { return nil }
    guard !hasLine, rule != .drop, limit == 1 else {
      return "A debounce runs the newest alone: it needs a limit of 1, and a rule that cancels or "
        + "keeps the latest."
    }
    guard longest == 0 || longest >= debounce else {
      return "A debounce cannot end before its pause."
    }
    return nil
  }

  var policy: UseCaseQueue.Policy {
    var policy = UseCaseQueue.Policy(limit: limit, whenBusy: whenBusy)
    if isByPriority { policy = policy.byPriority }
    if let waiting { policy = policy.waiting(atMost: waiting) }
    if debounce > 0 {
      let longest = longest == 0 ? nil : Duration.milliseconds(longest)
      policy = policy.debounced(by: .milliseconds(debounce), atMost: longest)
    }
    if interval > 0 { policy = policy.rate(starts, per: .milliseconds(interval)) }
    return policy
  }

  /// The policy as one writes it.
  var name: String {
    var name = baseName
    if isByPriority { name += ".byPriority" }
    if let waiting { name += ".waiting(atMost: \(waiting))" }
    if debounce > 0 {
      let end = longest == 0 ? "" : ", atMost: \(Self.code(longest))"
      name += ".debounced(by: \(Self.code(debounce))\(end))"
    }
    if interval > 0 {
      let isSpaced = starts == 1
      name += isSpaced ? ".spaced(by: " : ".rate(\(starts), per: "
      name += "\(Self.code(interval)))"
    }
    return name
  }

  private var baseName: String {
    switch (rule, limit) {
    case (.wait, 1): ".serial"
    case (.wait, _): ".limit(\(limit))"
    case (.drop, 1): ".dropWhileBusy"
    case (_, 1): ".\(rule.rawValue)"
    case _: ".init(limit: \(limit), whenBusy: .\(rule.rawValue))"
    }
  }

  private static func code(_ milliseconds: Int) -> String {
    milliseconds.isMultiple(of: 1000)
      ? ".seconds(\(milliseconds / 1000))" : ".milliseconds(\(milliseconds))"
  }

  var row: NamedPolicy {
    NamedPolicy(name: name, code: "UseCaseQueue(\(name))", use: "put together here")
  }

  private var whenBusy: UseCaseQueue.Policy.WhenBusy {
    switch rule {
    case .wait: .wait
    case .cancelPrevious: .cancelPrevious
    case .cancelPreviousAndWait: .cancelPreviousAndWait
    case .drop: .drop
    case .keepLatest: .keepLatest
    }
  }
}
