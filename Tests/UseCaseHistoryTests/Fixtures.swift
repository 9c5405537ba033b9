import TestSupport
import Testing
import UseCase
import UseCaseHistory

struct Failure: Error, Hashable {
  let action: String

  init(_ action: String) {
    self.action = action
  }
}

/// The document of the tests. It writes down all that is done to it, and each action can be held
/// at a gate, made to fail, or given something else to do: `do A`, `undo A1`, `redo A1`, where 1
/// is the response.
final class Page: Sendable {
  let log = Log<String>()
  let lifetime = Lifetime()
  private let failing = Watched<Set<String>>([])
  private let gates = Watched<[String: Gate]>([:])
  private let scripts = Watched<[String: @Sendable () async throws -> Void]>([:])
  private let director = Watched<(@Sendable (String) async throws -> Void)?>(nil)
  private let responses: Watched<Int>
  /// The answer to all doubts, and how often that was asked.
  let hadEffect = Watched(false)
  let doubts = Watched(0)

  init(lastResponse: Int = 0) { responses = Watched(lastResponse) }

  func fail(_ action: String) { failing.update { _ = $0.insert(action) } }
  func repair(_ action: String) { failing.update { _ = $0.remove(action) } }

  /// Returns a gate that holds the action.
  func hold(_ action: String) -> Gate {
    let gate = Gate()
    gates.update { $0[action] = gate }
    return gate
  }

  /// The action finds that its thing is gone.
  func lose(_ action: String) { script(action) { throw HistoryObsolete(Failure(action)) } }

  func script(_ action: String, _ body: @escaping @Sendable () async throws -> Void) {
    scripts.update { $0[action] = body }
  }

  /// From now on each action does this as well.
  func direct(_ body: @escaping @Sendable (String) async throws -> Void) {
    director.update { $0 = body }
  }

  /// Returns once the action has begun.
  func began(_ action: String) async {
    var count = 1
    while !log.elements.contains(action) { count = await log.elements(atLeast: count).count + 1 }
  }

  func act(_ action: String) async throws {
    log.append(action)
    await gates.value[action]?.passIgnoringCancellation()
    try await scripts.value[action]?()
    try await director.value?(action)
    if failing.value.contains(action) { throw Failure(action) }
  }

  var lastResponse: Int { responses.value }

  func respond() -> Int {
    responses.update {
      $0 += 1; return $0
    }
  }

  /// The discarded steps, with the reasons.
  var discarded: [String] {
    log.elements.filter { $0.hasPrefix("discard ") }.map { String($0.dropFirst(8)) }
  }

  /// The actions so far, without discards.
  var actions: [String] { log.elements.filter { !$0.hasPrefix("discard ") } }
}

/// A response that tells its number, and how many of it are alive.
struct Answer: Sendable {
  let number: Int
  /// Nil if it was read from a journal.
  let token: Lifetime.Token?
}

/// An edit with all the bells: a redo of its own, a title, and a footprint: `A` touches everything,
/// `A@x,y` touches x and y, and `A@` nothing. What `A?@x` touches is known only afterwards.
struct Edit: UndoableUseCase {
  let page: Page
  var timeout = UseCaseTimeout.never
  var queue = UseCaseQueue.default

  func main(_ text: String) async throws -> Answer {
    try await page.act("do \(name(text))")
    return Answer(number: page.respond(), token: page.lifetime.track())
  }

  func undo(_ text: String, _ answer: Answer) async throws {
    try await page.act("undo \(name(text))\(answer.number)")
  }

  func redo(_ text: String, _ answer: Answer) async throws -> Answer {
    try await page.act("redo \(name(text))\(answer.number)")
    return Answer(number: page.respond(), token: page.lifetime.track())
  }

  func title(for text: String) -> String { name(text) }

  func discard(_ text: String, _ answer: Answer, _ reason: HistoryDiscardReason) {
    page.log.append("discard \(name(text))\(answer.number) \(reason)")
  }

  func footprint(of text: String) -> HistoryFootprint? {
    text.contains("?") ? nil : footprint(text)
  }

  func footprint(of text: String, _ answer: Answer) -> HistoryFootprint { footprint(text) }

  private func footprint(_ text: String) -> HistoryFootprint {
    guard let at = text.firstIndex(of: "@") else { return .everything }
    let keys = text[text.index(after: at)...].split(separator: ",")
    return keys.reduce(.keys()) { $0.union(.keys(String($1))) }
  }

  private func name(_ text: String) -> String { String(text.prefix { $0 != "@" }) }
}

/// Typing, which merges: lowercase letters into one, and a pair of `x` and `X` into nothing.
struct Typing: UndoableUseCase, Equatable {
  let page: Page
  var document = 0

  static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.page === rhs.page && lhs.document == rhs.document
  }

  func main(_ text: String) async throws -> Int {
    try await page.act("do \(text)")
    return page.respond()
  }

  func undo(_ text: String, _ answer: Int) async throws {
    try await page.act("undo \(text)\(answer)")
  }

  func title(for text: String) -> String { text }

  func merge(
    _ earlier: (request: String, response: Int), _ later: (request: String, response: Int)
  ) -> HistoryMerge<String, Int> {
    if earlier.request.uppercased() == later.request { return .annul }
    guard later.request == later.request.lowercased() else { return .separate }
    return .merged(earlier.request + later.request, later.response)
  }

  func discard(_ text: String, _ answer: Int, _ reason: HistoryDiscardReason) {
    page.log.append("discard \(text)\(answer) \(reason)")
  }
}

/// Nothing but what it must have.
struct Bare: UndoableUseCase {
  let page: Page

  func main(_ text: String) async throws { try await page.act("do \(text)") }
  func undo(_ text: String, _: Void) async throws { try await page.act("undo \(text)") }
}

extension UseCaseHistory {
  /// The entries in short: `[A B | C]*` is two applied, one undone, and clean. A group has its
  /// parts in parentheses, with a bar if it is half undone.
  var layout: String { Self.layout(of: entries, state) }

  static func layout(of entries: [HistoryEntry], _ state: HistoryState) -> String {
    let applied = entries.filter(\.isApplied).map(\.layout)
    let undone = entries.filter { !$0.isApplied }.map(\.layout)
    let all = (applied + ["|"] + undone).joined(separator: " ")
    return "[\(all)]\(state.isClean ? "*" : "")"
  }

  /// Executes the edits one after the other, each to its end.
  @discardableResult
  func run(_ page: Page, _ texts: String...) async -> UseCaseOutcome<Answer>? {
    var outcome: UseCaseOutcome<Answer>?
    for text in texts { outcome = await execute(Edit(page: page), text).ended() }
    return outcome
  }

  func type(_ page: Page, _ texts: String...) async {
    for text in texts { await execute(Typing(page: page), text).ended() }
  }

  func back(_ times: Int) async {
    for _ in 0..<times { await undo().ended() }
  }

  func forth(_ times: Int) async {
    for _ in 0..<times { await redo().ended() }
  }

  func save() { markSaved(savePoint()) }

  /// The id of the entry with this title.
  func id(_ title: String) -> HistoryEntry.ID? { entries.first { $0.title == title }?.id }

  /// Undoes the entry with this title. Returns the titles of those that block it.
  @discardableResult
  func take(_ title: String) async -> [String]? {
    guard let id = id(title) else { return nil }
    guard case .blocked(let ids) = await undo(id).ended().historyError else { return nil }
    return ids.map { id in entries.first { $0.id == id }?.title ?? "?" }
  }

  func drop(_ title: String) { id(title).map { forget($0) } }
}

extension HistoryEntry {
  var layout: String {
    guard !children.isEmpty else { return title }
    var parts = children.map(\.layout)
    if isApplied, let bar = children.firstIndex(where: { !$0.isApplied }) {
      parts.insert("|", at: bar)
    }
    return "\(title)(\(parts.joined(separator: " ")))"
  }
}

/// A history, a page, and a use case that is recorded there.
struct Desk {
  let page = Page()
  let clock = ManualClock()
  let history: UseCaseHistory
  var edit: RecordedUseCase<Edit> { Edit(page: page).recorded(in: history) }

  init(limit: Int? = nil, mergeWindow: Duration = .milliseconds(500)) {
    history = UseCaseHistory(limit: limit, mergeWindow: mergeWindow, clock: clock)
  }

  /// Runs a group of these edits to its end.
  @discardableResult
  func group(_ title: String, _ texts: String..., failing failure: Failure? = nil) async
    -> UseCaseOutcome<Void>
  {
    await history.group(title) { [edit] in
      for text in texts { _ = try await edit(text) }
      if let failure { throw failure }
    }.ended()
  }
}

extension UseCaseOutcome {
  /// The failure, if it is one of a history.
  var historyError: HistoryError? {
    guard case .failure(let error) = self else { return nil }
    return error as? HistoryError
  }

  var isCancelled: Bool {
    if case .cancelled = self { true } else { false }
  }

  /// The failure, if it says that something was obsolete.
  var obsolete: HistoryObsolete? {
    guard case .failure(let error) = self else { return nil }
    return error as? HistoryObsolete
  }

  /// The failure, if it is one of the tests.
  var failure: Failure? {
    guard case .failure(let error) = self else { return nil }
    return error as? Failure
  }

  var value: Response? {
    guard case .success(let response) = self else { return nil }
    return response
  }
}
