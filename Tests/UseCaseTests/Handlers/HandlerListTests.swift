import TestSupport
import Testing

@testable import UseCase

struct HandlerListTests {
  private static let branches: [HandlerBranch] = [
    .success, .failure, .common, .cancellation, .always,
  ]

  /// An object that a handler holds. It lives as long as the handler.
  private final class Capture: Sendable {}

  private static func handler(
    _ branch: HandlerBranch, _ capture: Capture = Capture(), log: Log<HandlerBranch>? = nil
  ) -> Handler<Int> {
    let run: @Sendable () -> Void = {
      withExtendedLifetime(capture) { log?.append(branch) }
    }
    return switch branch {
    case .success: .then { _ in run() }
    case .failure: .failure { _ in run() }
    case .common: .common { run() }
    case .cancellation: .cancellation { _ in run() }
    case .always: .finally { run() }
    }
  }

  // MARK: - One handler

  @Test(.holds("Which handler runs"), arguments: branches)
  func `a handler is called with the outcomes of its branch`(branch: HandlerBranch) async {
    let log = Log<HandlerBranch>()
    let outcomes: [(UseCaseOutcome<Int>, for: [HandlerBranch])] = [
      (.success(1), [.success, .common, .always]),
      (.failure(UseCaseDeadlock()), [.failure, .common, .always]),
      (.cancelled(.requested), [.cancellation, .always]),
    ]
    for (outcome, branches) in outcomes where branches.contains(branch) {
      _ = await Self.handler(branch, log: log).call(with: outcome)
      #expect(log.elements.last == branch)
    }
    #expect(log.count == outcomes.count { $0.for.contains(branch) })
    #expect(Self.handler(branch).branch == branch)
  }

  @Test func `a handler gets what became of the operation`() async {
    let log = Log<String>()
    _ = await Handler<Int>.then { log.append("\($0)") }.call(with: .success(7))
    _ = await Handler<Int>.failure { log.append("\($0 is UseCaseDeadlock)") }
      .call(with: .failure(UseCaseDeadlock()))
    _ = await Handler<Int>.typedFailure(nil) {
      log.append("\($0 is UseCaseTimeout)")
      return false
    }
    .call(with: .failure(UseCaseDeadlock()))
    _ = await Handler<Int>.cancellation { log.append("\($0)") }.call(with: .cancelled(.dropped))
    #expect(log.elements == ["7", "true", "false", "dropped"])
  }

  @Test func `a handler for another outcome is not called`() async {
    let log = Log<HandlerBranch>()
    _ = await Self.handler(.success, log: log).call(with: .cancelled(.requested))
    _ = await Self.handler(.failure, log: log).call(with: .success(1))
    _ = await Self.handler(.cancellation, log: log).call(with: .failure(UseCaseDeadlock()))
    _ = await Handler<Int>.typedFailure(nil) { _ in
      log.append(.failure)
      return true
    }.call(with: .success(1))
    #expect(log.count == 0)
  }

  @Test func `a handler knows the isolation that it was written in`() {
    let onMain: [Handler<Int>] = [
      .then { @MainActor _ in }, .failure { @MainActor _ in }, .common { @MainActor in },
      .cancellation { @MainActor _ in }, .finally { @MainActor in },
      .typedFailure(MainActor.shared) { _ in true },
    ]
    #expect(onMain.allSatisfy { $0.isolation === MainActor.shared })
    for branch in Self.branches { #expect(Self.handler(branch).isolation == nil) }
    let typed = Handler<Int>.typedFailure(nil) { _ in true }
    #expect(typed.isolation == nil && typed.branch == .failure)
  }

  @Test func `a verdict takes the handlers of its branches`() {
    let taken: [(Verdict, [HandlerBranch])] = [
      (.success, [.success, .common, .always]),
      (.failure(UseCaseDeadlock()), [.failure, .common, .always]),
      (.cancelled(.thrown), [.cancellation, .always]),
    ]
    for (verdict, branches) in taken {
      #expect((Self.branches as [HandlerBranch?] + [nil]).filter(verdict.kind.takes) == branches)
    }
  }

  // MARK: - Every sequence

  private enum Event: Equatable {
    case attach(HandlerBranch), next, cancel, forget
  }

  /// The list, and an array that does what the list is to do. Whose capture dies has run.
  private struct Run {
    private struct Entry {
      let id: Int
      let branch: HandlerBranch
      var isPassed = false
    }

    private final class Life {
      weak var capture: Capture?
    }

    private var list = Handlers<Int>()
    private var entries: [Entry] = []
    private var lives: [Life] = []
    private var isCancelled = false

    /// Returns whether both have done the same.
    mutating func apply(_ event: Event) -> Bool {
      switch event {
      case .attach(let branch):
        entries.append(Entry(id: lives.count, branch: branch))
        let (capture, life) = (Capture(), Life())
        life.capture = capture
        lives.append(life)
        list.append(handler(branch, capture))
      case .cancel:
        isCancelled = true
        for index in entries.indices { entries[index].isPassed = false }
        return apply(.next)
      case .next:
        let kind = isCancelled ? Verdict.Kind.cancelled : .success
        var handler = Handler<Int>.none
        let taken = list.take(&handler, for: kind, isLast: entries.count == 1)
        let index = entries.firstIndex { !$0.isPassed && kind.takes($0.branch) }
        for passed in entries.indices.prefix(index ?? entries.count) {
          entries[passed].isPassed = true
        }
        let branch = index.map { entries[$0].branch }
        guard handler.branch == branch else { return false }
        if let index {
          guard taken == .free(entries.remove(at: index).branch) else { return false }
        } else {
          guard taken == .none else { return false }
        }
      case .forget:
        _ = list.forget()
        entries.removeAll { $0.isPassed }
      }
      // Of those that are gone not even the places are left, the first one aside.
      guard !entries.isEmpty || list.others.isEmpty else { return false }
      return lives.indices.filter { lives[$0].capture != nil } == entries.map(\.id)
    }
  }

  @Test func `the list does what an array does`() {
    let attach = [HandlerBranch.success, .cancellation, .always].map(Event.attach)
    var sequences = [[Event]()]
    for _ in 1...6 {
      sequences = sequences.flatMap { sequence in
        (attach + [.next, .forget] + (sequence.contains(.cancel) ? [] : [.cancel]))
          .map { sequence + [$0] }
      }
    }
    #expect(sequences.count > 30_000)
    for sequence in sequences {
      var run = Run()
      for (index, event) in sequence.enumerated() where !run.apply(event) {
        Issue.record("\(sequence.prefix(index + 1))")
        return
      }
    }
  }

  @Test func `a handler that is written on an actor is to ask there`() {
    var list = Handlers<Int>()
    list.append(.then { @MainActor _ in })
    var handler = Handler<Int>.none
    #expect(list.take(&handler, for: .success, isLast: true) == .isolated)
    #expect(handler.branch == .success)
    #expect(list.take(&handler, for: .success, isLast: true) == .none)
    #expect(handler.branch == nil)
  }

  @Test func `what is forgotten is handed out, to be let go outside of the lock`() {
    var list = Handlers<Int>()
    weak var capture: Capture?
    do {
      let first = Capture()
      capture = first
      list.append(Self.handler(.failure, first))
      list.append(Self.handler(.always))
    }
    while list.next(for: .success).branch != nil {}
    let passed = list.forget()
    #expect(capture != nil)
    #expect(passed.first.branch == .failure)
    #expect(list.count == 0 && list.first.branch == nil && list.others.isEmpty)
  }
}
