import UseCase

/// A row of the page, as it is written and what it is for.
struct NamedPolicy: Encodable, Sendable {
  let name: String
  let code: String
  let use: String

  /// The rows that are compared most come first.
  static let all: [(row: NamedPolicy, policy: UseCaseQueue.Policy)] = [
    row(".unlimited", .unlimited, "independent requests; the default"),
    row(".cancelPrevious", .cancelPrevious, "search as you type"),
    row(
      ".cancelPrevious(debounce: .milliseconds(300))",
      .cancelPrevious(debounce: .milliseconds(300)), "fewer requests while typing"),
    row(".cancelPreviousAndWait", .cancelPreviousAndWait, "reloading a file"),
    row(".keepLatest", .keepLatest, "autosave"),
    row(".throttle(.milliseconds(700))", .throttle(.milliseconds(700)), "live updates"),
    row(".serial", .serial, "writing to one file"),
    row(".limit(2)", .limit(2), "downloads, thumbnails"),
    row(".limit(1, waiting: 1)", .limit(1, waiting: 1), "a bounded backlog"),
    row(".dropWhileBusy", .dropWhileBusy, "a Pay button"),
  ]

  private static func row(
    _ name: String, _ policy: UseCaseQueue.Policy, _ use: String
  ) -> (row: NamedPolicy, policy: UseCaseQueue.Policy) {
    (NamedPolicy(name: name, code: "UseCaseQueue(\(name))", use: use), policy)
  }
}
