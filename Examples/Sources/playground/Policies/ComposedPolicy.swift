import UseCase

/// A policy that is put together on the page.
struct ComposedPolicy: Codable, Checked, Hashable, Sendable {
  enum Rule: String, Codable, CaseIterable {
    case wait, cancelPrevious, cancelPreviousAndWait, drop, keepLatest
  }

  var rule = Rule.keepLatest
  var limit = 1

  var complaint: String? {
    (1...9).contains(limit) ? nil : "The limit is 1 to 9."
  }

  var policy: UseCaseQueue.Policy { .init(limit: limit, whenBusy: whenBusy) }

  /// The policy as one writes it.
  var name: String {
    switch (rule, limit) {
    case (.wait, 1): ".serial"
    case (.wait, _): ".limit(\(limit))"
    case (.drop, 1): ".dropWhileBusy"
    case (_, 1): ".\(rule.rawValue)"
    case _: ".init(limit: \(limit), whenBusy: .\(rule.rawValue))"
    }
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
