import Synchronization
import UseCase
import UseCaseHistory

extension Scenario {
  /// Requests to a history that has entries already, a thousand at a time.
  static let history = Scenario(
    name: "history, a thousand at a time",
    contestants: [
      Contestant("Task after Task", isBare: true, lines: 1_000, of: 5_000) { count, client in
        var last: Task<Void, Never>?
        for number in 0..<count {
          last = Task { [last] in
            await last?.value
            client.take(twice(number))
          }
        }
      },
      Contestant(plain, lines: 1_000, of: 5_000) { count, client in
        let useCase = Twice(queue: UseCaseQueue(.serial))
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      },
    ] + contestants(at: 1_000) + contestants(at: 1_000_000))

  private static let plain = "UseCase, serial"

  private static func contestants(at size: Int) -> [Contestant] {
    let shelf = Shelf(size: size)
    func contestant(
      _ name: String, _ limit: Double? = nil,
      before: @escaping @Sendable (UseCaseHistory, Int) -> Void = { _, _ in },
      after: @escaping @Sendable (UseCaseHistory, Int) -> Void = { _, _ in },
      ask: @escaping @Sendable (UseCaseHistory, Int, Client) -> Void
    ) -> Contestant {
      let target =
        size == 1_000
        ? limit.map { Target.atMost($0, of: plain) } : .atMost(1.3, of: "\(name), at 1,000")
      return Contestant(name: "\(name), at \(size.grouped)", target: target) { scale in
        let (batches, count) = (5, scale(1_000))
        var nanoseconds = 0.0
        for _ in 0..<batches {
          let history = shelf.history(scale)
          before(history, count)
          nanoseconds += time(count) { count, client in ask(history, count, client) }
          after(history, count)
        }
        return nanoseconds / Double(batches * count)
      }
    }

    return [
      contestant("record", 1.5) { history, count, client in
        let useCase = Undoable().recorded(in: history)
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      },
      contestant("undo", 1.5, after: { $0.redo($1) }) { history, count, client in
        for _ in 0..<count { history.undo().then { _ in client.take(0) } }
      },
      contestant("redo", 1.5, before: { $0.undo($1) }) { history, count, client in
        for _ in 0..<count { history.redo().then { _ in client.take(0) } }
      },
      contestant("part of a group of 10") { history, count, client in
        let useCase = Undoable().recorded(in: history)
        for _ in 0..<count / 10 {
          history.group("ten") {
            for number in 0..<10 { _ = try await useCase(number) }
          }.then { for _ in 0..<10 { client.take(0) } }
        }
      },
      contestant("merge") { history, count, client in
        let useCase = Merging().recorded(in: history)
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      },
    ]
  }

  /// The cost of removing a million entries, for each of them.
  static let million = Scenario(
    name: "removing a million entries",
    rounds: 7,
    contestants: [
      Contestant(name: "array of objects", isBare: true) { scale in
        let count = scale(1_000_000)
        var objects = (0..<count).map(Object.init)
        return nanoseconds { objects = [] } / Double(count)
      },
      Contestant(name: "clear", target: .cost(100)) { scale in
        let history = UseCaseHistory.filled(scale(1_000_000))
        return nanoseconds { history.clear() } / Double(scale(1_000_000))
      },
      Contestant(name: "truncate", target: .cost(100)) { scale in
        let history = UseCaseHistory.filled(scale(1_000_000))
        _ = time(1) { _, client in history.move(to: nil).then { _ in client.take(0) } }
        return nanoseconds { history.fill(1) } / Double(scale(1_000_000))
      },
    ])

  private final class Object: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  private struct Merging: UndoableUseCase {
    func main(_ number: Int) async throws -> Int { twice(number) }
    func undo(_ number: Int, _ response: Int) async throws {}
    func merge(
      _ earlier: (request: Int, response: Int), _ later: (request: Int, response: Int)
    ) -> HistoryMerge<Int, Int> {
      .merged(later.request, earlier.response)
    }
  }
}

extension Contestant {
  /// The memory of an entry beside its request and its response.
  static let entry = Contestant(name: "UseCaseHistory, entry", target: .cost(150)) { scale in
    let count = scale(100_000)
    let before = allocatedBytes()
    let history = UseCaseHistory.filled(count)
    let bytes = withExtendedLifetime(history) { allocatedBytes() - before }
    return Double(bytes) / Double(count) - Double(2 * MemoryLayout<Int>.size)
  }
}

/// Gives out histories of a certain size: a small one is new each time, a large one grows by so
/// little that it stays what it is.
private final class Shelf: Sendable {
  private let size: Int
  private let shared = Mutex<UseCaseHistory?>(nil)

  init(size: Int) { self.size = size }

  func history(_ scale: Scale) -> UseCaseHistory {
    if size <= 1_000 { return .filled(scale(size)) }
    return shared.withLock { shared in
      let history = shared ?? .filled(scale(size))
      shared = history
      return history
    }
  }
}

extension UseCaseHistory {
  static func filled(_ count: Int) -> UseCaseHistory {
    let history = UseCaseHistory(mergeWindow: .seconds(3_600))
    history.fill(count)
    return history
  }

  func fill(_ count: Int) {
    let useCase = Undoable().recorded(in: self)
    for start in stride(from: 0, to: count, by: 10_000) {
      _ = time(min(10_000, count - start)) { count, client in
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      }
    }
  }

  func undo(_ count: Int) {
    _ = time(count) { count, client in
      for _ in 0..<count { undo().then { _ in client.take(0) } }
    }
  }

  func redo(_ count: Int) {
    _ = time(count) { count, client in
      for _ in 0..<count { redo().then { _ in client.take(0) } }
    }
  }
}
