import TestSupport
import Testing

@testable import UseCase

/// The list of handlers, compared with plain arrays.
struct HandlerListTests {
  private static let branches: [HandlerBranch] = [
    .settlement, .success, .failure, .common, .cancellation, .always,
  ]

  private enum Event: Equatable {
    case attach(HandlerBranch), first, next, last, putBack, rewind, removeAll
  }

  /// The list, and arrays that do what the list is to do.
  private struct Run {
    private var list = Handlers<Int>()
    private var entries: [(id: Int, branch: HandlerBranch, isPassed: Bool)] = []
    private var lastID = 0
    private var kind = Verdict.Kind.success
    private var taken: Handler<Int>?

    /// Returns whether both have done the same.
    mutating func apply(_ event: Event) -> Bool {
      switch event {
      case .attach(let branch):
        lastID += 1
        entries.append((lastID, branch, false))
        list.append(Handler(branch: branch, isIsolated: true, callback: lastID))
      case .first:
        let index = entries.firstIndex { $0.branch == .settlement }
        guard list.takeFirst()?.callback == index.map({ entries[$0].id }) else { return false }
        if let index { entries.remove(at: index) }
      case .next:
        let index = entries.firstIndex { !$0.isPassed && kind.takes($0.branch) }
        let hasFirst = entries.contains { $0.branch == .settlement }
        // The handlers before it are for another verdict, and are passed over.
        for other in entries.indices.prefix(index ?? entries.count) {
          entries[other].isPassed = true
        }
        let has = list.hasNext(for: kind)
        let handler = list.takeNext(for: kind)
        guard has == (index != nil || hasFirst), handler?.callback == index.map({ entries[$0].id })
        else {
          return false
        }
        if let index { entries.remove(at: index) }
      case .last:
        let index = entries.firstIndex { $0.branch == .always }
        taken = list.takeLast()
        guard taken?.callback == index.map({ entries[$0].id }) else { return false }
        if let index { entries.remove(at: index) }
      case .putBack:
        guard let handler = taken.take() else { return true }
        entries.insert(
          (handler.callback, .always, true),
          at: entries.firstIndex { $0.id > handler.callback } ?? entries.count)
        list.putBack(handler)
      case .rewind:
        kind = .cancelled
        for index in entries.indices { entries[index].isPassed = false }
        list.rewind()
      case .removeAll:
        taken = nil
        guard list.removeAll().map(\.callback) == entries.map(\.id) else { return false }
        entries = []
      }
      return Int(list.count) == entries.count
    }
  }

  @Test func `the list does what arrays do`() {
    let events =
      [HandlerBranch.settlement, .success, .cancellation, .always].map(Event.attach)
      + [.first, .next, .last, .putBack, .rewind, .removeAll]
    var sequences = [[Event]()]
    for _ in 1...5 {
      sequences = sequences.flatMap { sequence in
        // The task that has just taken a handler puts it back.
        events.filter { ($0 == .putBack) <= (sequence.last == .last) }.map { sequence + [$0] }
      }
    }
    #expect(sequences.count > 20_000)
    for sequence in sequences {
      var run = Run()
      for (index, event) in sequence.enumerated() where !run.apply(event) {
        Issue.record("\(sequence.prefix(index + 1))")
        return
      }
    }
  }

  @Test(.holds("Which handler runs"))
  func `a verdict takes the handlers of its branches, settlements and each finally aside`() {
    let taken: [(Verdict, [HandlerBranch])] = [
      (.success, [.success, .common]), (.failure(UseCaseDeadlock()), [.failure, .common]),
      (.cancelled(.thrown), [.cancellation]),
    ]
    for (verdict, branches) in taken {
      #expect(Self.branches.filter(verdict.kind.takes) == branches)
    }
  }
}

/// False is less than true: `a <= b` says that a implies b.
private func <= (a: Bool, b: Bool) -> Bool { !a || b }
