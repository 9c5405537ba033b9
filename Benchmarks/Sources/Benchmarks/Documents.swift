import Synchronization
import UseCase
import UseCaseHistory

extension Scenario {
  /// An undo in a document, and a new entry, among many entries of many documents.
  static let documents = Scenario(
    name: "documents",
    rounds: 9,
    contestants: contestants(of: "undo in one", before: { _, _ in }) { history, count, client in
      for _ in 0..<count { history.undo(in: .keys(0)).then { _ in client.take(0) } }
    }
      + contestants(of: "record behind an undo", before: { $0.undo($1, in: 0) }) {
        history, count, client in
        let edit = Edit(documents: 1)
        for number in 0..<count { history.execute(edit, number).then { client.take(0) } }
      })

  /// Ten undos or records, in a history that is new each time, or so large that it stays as it is.
  private static func contestants(
    of name: String, before: @escaping @Sendable (UseCaseHistory, Int) -> Void,
    ask: @escaping @Sendable (UseCaseHistory, Int, Client) -> Void
  ) -> [Contestant] {
    let shared = Mutex<UseCaseHistory?>(nil)
    func contestant(
      _ documents: Int, _ entries: Int, _ history: @escaping @Sendable (Scale) -> UseCaseHistory
    ) -> Contestant {
      let isBare = documents == 1
      return Contestant(
        name: "\(name), \(entries.grouped) entries of \(documents.grouped)", isBare: isBare,
        target: isBare ? nil : .atMost(2, of: "\(name), 10 entries of 1")
      ) { scale in
        let (batches, count) = (20, 10)
        var nanoseconds = 0.0
        for _ in 0..<batches {
          let history = history(scale)
          before(history, count / 2)
          nanoseconds += time(count) { count, client in ask(history, count, client) }
          if !isBare { while history.state.redoCount > 0 { history.redo(1) } }
        }
        return nanoseconds / Double(batches * count)
      }
    }
    return [
      contestant(1, 10) { _ in .edited(10, documents: 1) },
      contestant(1_000, 100_000) { scale in
        shared.withLock { shared in
          let history = shared ?? .edited(scale(100_000), documents: 1_000)
          shared = history
          return history
        }
      },
    ]
  }

  /// A thousand parts that come from events, and the same in the body of a group.
  static let drag = Scenario(
    name: "drag of 1,000 parts",
    contestants: [
      Contestant("group", isBare: true, lines: 1_000, of: 5_000) { count, client in
        let history = UseCaseHistory()
        let useCase = Undoable().recorded(in: history)
        history.group("G") {
          for number in 0..<count { _ = try await useCase(number) }
        }.then { for _ in 0..<count { client.take(0) } }
      },
      Contestant("group, by execute", lines: 1_000, of: 5_000) { count, client in
        let history = UseCaseHistory()
        let useCase = Undoable().recorded(in: history)
        history.group("G") {
          for number in 0..<count { useCase.execute(number) }
        }.then { for _ in 0..<count { client.take(0) } }
      },
      Contestant("openGroup", lines: 1_000, of: 5_000) {
        count, client in
        let group = UseCaseHistory().openGroup("G")
        for number in 0..<count { group.execute(Undoable(), number) }
        group.close().then { _ in for _ in 0..<count { client.take(0) } }
      },
    ])
}

extension Contestant {
  /// The memory of an entry that touches one key, beside its request.
  static let keyedEntry = Contestant(
    name: "UseCaseHistory, entry with a key", target: .cost(350)
  ) { scale in
    let count = scale(100_000)
    let before = allocatedBytes()
    let history = UseCaseHistory.edited(count, documents: 1_000)
    let bytes = withExtendedLifetime(history) { allocatedBytes() - before }
    return Double(bytes) / Double(count) - Double(MemoryLayout<Int>.size)
  }
}

/// An edit of one of so many documents.
private struct Edit: UndoableUseCase {
  let documents: Int

  func main(_ number: Int) async throws {}
  func undo(_ number: Int, _: Void) async throws {}
  func footprint(of number: Int) -> HistoryFootprint? { .keys(number % documents) }
}

extension UseCaseHistory {
  fileprivate static func edited(_ count: Int, documents: Int) -> UseCaseHistory {
    let history = UseCaseHistory()
    for start in stride(from: 0, to: count, by: 10_000) {
      let edit = Edit(documents: documents)
      _ = time(min(10_000, count - start)) { count, client in
        for number in 0..<count {
          history.execute(edit, start + number).then { client.take(0) }
        }
      }
    }
    return history
  }

  fileprivate func undo(_ count: Int, in document: Int) {
    _ = time(count) { count, client in
      for _ in 0..<count { undo(in: .keys(document)).then { _ in client.take(0) } }
    }
  }
}
