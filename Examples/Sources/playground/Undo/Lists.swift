import Synchronization
import UseCase
import UseCaseHistory

/// An item of one of the two lists.
struct Item: Codable, Hashable, Sendable {
  var list: Int
  var text: String
  var isDone = false
}

/// The two lists, as a server would have them. An item has a number that is never used again.
final class Lists: Sendable {
  static let names = ["Groceries", "Trip"]
  static let capacity = 8
  static let longestText = 60

  private let items = Mutex<[Int: Item]>([:])

  var all: [Int: Item] { items.withLock { $0 } }

  subscript(number: Int) -> Item? { items.withLock { $0[number] } }

  /// Puts an item in place of another, and returns that; nil stands for none.
  func replace(_ number: Int, by new: Item?) -> Item? {
    items.withLock { items in
      defer { items[number] = new }
      return items[number]
    }
  }
}

/// A slow change of one item, which fails when it is meant to, and can be undone as slowly.
struct Edit: UndoableUseCase, Equatable {
  struct Request: Hashable, Sendable {
    let number: Int
    let change: Change
    let title: String
  }

  enum Change: Hashable, Sendable {
    case add(Item), toggle, move, remove
  }

  struct Refusal: Error, CustomStringConvertible {
    let description: String

    static let busy = Refusal(description: "The server is busy.")
    static let gone = Refusal(description: "The item is gone.")
  }

  let lists: Lists
  let trouble: Trouble

  static func == (one: Edit, other: Edit) -> Bool { one.lists === other.lists }

  func main(_ request: Request) async throws -> Item? {
    try await trouble.pass()
    let old = lists[request.number]
    return lists.replace(request.number, by: try request.change.applied(to: old))
  }

  func undo(_ request: Request, _ old: Item?) async throws {
    try await trouble.pass()
    _ = lists.replace(request.number, by: old)
  }

  func title(for request: Request) -> String { request.title }

  func footprint(of request: Request) -> HistoryFootprint? { .keys(request.number) }
}

extension Edit.Change {
  fileprivate func applied(to item: Item?) throws -> Item? {
    if case .add(let new) = self { return new }
    guard var item else { throw Edit.Refusal.gone }
    switch self {
    case .add, .remove: return nil
    case .toggle: item.isDone.toggle()
    case .move: item.list = 1 - item.list
    }
    return item
  }
}

/// Makes each change slow, and lets some fail.
final class Trouble: Sendable {
  struct Settings: Codable, Hashable, Sendable {
    /// In milliseconds.
    var latency = 700
    /// In percent of the changes.
    var failures = 0
    var failsNext = false
  }

  private let state = Mutex(Settings())

  var settings: Settings {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  func pass() async throws {
    let (latency, fails) = state.withLock { settings in
      defer { settings.failsNext = false }
      return (settings.latency, settings.failsNext || Int.random(in: 0..<100) < settings.failures)
    }
    try await Task.sleep(for: .milliseconds(latency))
    if fails { throw Edit.Refusal.busy }
  }
}
