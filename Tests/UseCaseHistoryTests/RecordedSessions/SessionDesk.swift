import Synchronization
import TestSupport
import UseCase
import UseCaseHistory

/// What the request of an edit says: its name, and what it touches.
///
/// `e5` touches everything, `e5@x,y` touches x and y, `e5@` nothing. What `e5?@x` touches is known
/// only afterwards, and `e5!@x` ends when its task is cancelled.
struct SessionText {
  let name: String
  let isUnknown: Bool
  let heedsCancellation: Bool
  /// Nil for everything.
  let keys: [String]?

  init(_ text: String) {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    name = sides[0].filter { $0 != "?" && $0 != "!" }
    isUnknown = sides[0].contains("?")
    heedsCancellation = sides[0].contains("!")
    keys = sides.count > 1 ? sides[1].split(separator: ",").map(String.init) : nil
  }

  var footprint: HistoryFootprint { keys.map { .keys($0) } ?? .everything }
}

struct SessionFailure: Error {
  let action: String
}

/// The document that the bodies of a session change, the stage on which they wait for what is to
/// become of them, and the log of what they do.
final class SessionDesk: Sendable {
  enum Order: Sendable {
    case succeed, fail, lose
    case inside(@Sendable () async -> Void)
    /// The same, and then it succeeds.
    case insideAtLast(@Sendable () async -> Void)
  }

  struct Log: Sendable {
    /// The bodies that have begun, in order.
    var actions: [String] = []
    var discards: [String] = []
    /// What code inside of bodies has to tell.
    var notes: [String] = []
    /// Against rules that hold at any time.
    var faults: [String] = []
  }

  private struct State: Sendable {
    var log = Log()
    var values = ["x": "-", "y": "-", "z": "-"]
    var lastNumber = 0
    var bodies: [(id: Int, action: String, waiter: CheckedContinuation<Order?, Never>)] = []
    var lastBody = 0
    /// Bodies whose task was cancelled before they waited.
    var cancelled: Set<Int> = []
    var ids: [String: HistoryEntry.ID] = [:]
    var lives: [Int: String] = [:]
  }

  let lifetime = Lifetime()
  private let state = Mutex(State())

  // MARK: - For the session

  /// The body that waits for its order.
  var waiting: String? { state.withLock { $0.bodies.first?.action } }

  var values: [String: String] { state.withLock { $0.values } }

  func takeLog() -> Log {
    state.withLock { state in
      defer { state.log = Log() }
      return state.log
    }
  }

  /// Tells the body that waits what becomes of it.
  func order(_ order: Order) {
    let body = state.withLock { $0.bodies.isEmpty ? nil : $0.bodies.removeFirst() }
    body?.waiter.resume(returning: order)
  }

  /// The entry that the execution with this name said it would be.
  func id(of name: String) -> HistoryEntry.ID? { state.withLock { $0.ids[name] } }

  func note(_ note: String) { state.withLock { $0.log.notes.append(note) } }

  // MARK: - For its bodies

  /// Begins an action, and returns once it was ordered to succeed.
  func act(_ action: String, _ name: String, heeding: Bool) async throws {
    let id = state.withLock { state in
      state.log.actions.append(action)
      let entry = HistoryEntry.ID.current
      if let before = state.ids[name], entry != before, !name.hasPrefix("i") {
        state.log.faults.append("\(action) in another entry")
      }
      state.ids[name] = entry
      state.lastBody += 1
      return state.lastBody
    }
    while true {
      switch await order(for: action, id, heeding: heeding) {
      case .succeed: return
      case .fail: throw SessionFailure(action: action)
      case .lose: throw HistoryObsolete(SessionFailure(action: action))
      case nil: throw CancellationError()
      case .inside(let body): await body()
      case .insideAtLast(let body): return await body()
      }
    }
  }

  private func order(for action: String, _ id: Int, heeding: Bool) async -> Order? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isCancelled = state.withLock { state in
          if heeding, state.cancelled.contains(id) { return true }
          state.bodies.append((id, action, waiter))
          return false
        }
        if isCancelled { waiter.resume(returning: nil) }
      }
    } onCancel: {
      guard heeding else { return }
      let waiter = state.withLock { state in
        state.cancelled.insert(id)
        return state.bodies.firstIndex { $0.id == id }.map { state.bodies.remove(at: $0).waiter }
      }
      waiter?.resume(returning: nil)
    }
  }

  /// Sets these keys, and returns the answer that can undo it.
  func set(_ keys: [String]?, to value: String) -> SessionAnswer {
    state.withLock { state in
      state.lastNumber += 1
      var old: [String: String] = [:]
      for key in keys ?? ["x", "y", "z"] { old[key] = state.values.updateValue(value, forKey: key) }
      state.lives[state.lastNumber] = "do"
      return SessionAnswer(number: state.lastNumber, old: old, token: lifetime.track())
    }
  }

  func restore(_ answer: SessionAnswer) {
    state.withLock { state in
      for (key, value) in answer.old { state.values[key] = value }
      live(answer.number, "undo", &state)
    }
  }

  func discard(_ name: String, _ answer: SessionAnswer, _ reason: HistoryDiscardReason) {
    state.withLock { state in
      state.log.discards.append("\(name)\(answer.mark) \(reason)")
      live(answer.number, "discard", &state)
    }
  }

  /// An answer is undone once, and discarded once.
  private func live(_ number: Int, _ act: String, _ state: inout State) {
    let before = state.lives[number] ?? "nothing"
    if before == act || before == "discard" {
      state.log.faults.append("\(act) of \(number) after \(before)")
    }
    state.lives[number] = act
  }
}

struct SessionAnswer: Sendable {
  let number: Int
  let old: [String: String]
  let token: Lifetime.Token

  var mark: String { ":\(number)" }
}

/// An edit of the document, with a redo of its own.
struct SessionEdit: UndoableUseCase {
  let desk: SessionDesk

  func main(_ request: String) async throws -> SessionAnswer {
    let text = SessionText(request)
    try await desk.act("do \(text.name)", text.name, heeding: text.heedsCancellation)
    return desk.set(text.keys, to: text.name)
  }

  func undo(_ request: String, _ answer: SessionAnswer) async throws {
    let text = SessionText(request)
    try await desk.act(
      "undo \(text.name)\(answer.mark)", text.name, heeding: text.heedsCancellation)
    desk.restore(answer)
  }

  func redo(_ request: String, _ answer: SessionAnswer) async throws -> SessionAnswer {
    let text = SessionText(request)
    try await desk.act(
      "redo \(text.name)\(answer.mark)", text.name, heeding: text.heedsCancellation)
    return desk.set(text.keys, to: text.name)
  }

  func title(for request: String) -> String { SessionText(request).name }

  func discard(_ request: String, _ answer: SessionAnswer, _ reason: HistoryDiscardReason) {
    desk.discard(SessionText(request).name, answer, reason)
  }

  func footprint(of request: String) -> HistoryFootprint? {
    let text = SessionText(request)
    return text.isUnknown ? nil : text.footprint
  }

  func footprint(of request: String, _: SessionAnswer) -> HistoryFootprint {
    SessionText(request).footprint
  }
}

/// Typing, which merges: small letters become one entry, and a letter annuls the small one before
/// it if it is the same letter as a capital. Each request ends in a number of its own.
protocol SessionTyping: UndoableUseCase where Request == String, Response == SessionAnswer {
  var desk: SessionDesk { get }
  /// Nil for everything.
  var keys: [String]? { get }
}

extension SessionTyping {
  func main(_ text: String) async throws -> SessionAnswer {
    try await desk.act("do \(text)", "i\(text)", heeding: false)
    return desk.set(keys ?? ["z"], to: text)
  }

  func undo(_ text: String, _ answer: SessionAnswer) async throws {
    try await desk.act("undo \(text)\(answer.mark)", "i\(text)", heeding: false)
    desk.restore(answer)
  }

  func title(for text: String) -> String { text }

  func merge(
    _ earlier: (request: String, response: SessionAnswer),
    _ later: (request: String, response: SessionAnswer)
  ) -> HistoryMerge<String, SessionAnswer> {
    let (before, after) = (letters(earlier.request), letters(later.request))
    if before.uppercased() == after { return .annul }
    guard after == after.lowercased(), before.count < 5 else { return .separate }
    return .merged(
      earlier.request + later.request,
      SessionAnswer(
        number: later.response.number, old: earlier.response.old, token: later.response.token))
  }

  private func letters(_ text: String) -> String { text.filter(\.isLetter) }

  func discard(_ text: String, _ answer: SessionAnswer, _ reason: HistoryDiscardReason) {
    // The pair that a merge has made has the number of the later one.
    if reason == .merged { return desk.note("\(text)\(answer.mark) merged") }
    desk.discard(text, answer, reason)
  }

  func footprint(of text: String, _: SessionAnswer) -> HistoryFootprint {
    keys.map { .keys($0) } ?? .everything
  }

  func footprint(of text: String) -> HistoryFootprint? { keys.map { .keys($0) } ?? .everything }
}

/// It is the same use case as an equal one.
struct SessionNote: SessionTyping, Equatable {
  let desk: SessionDesk
  let keys: [String]?

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.desk === rhs.desk && lhs.keys == rhs.keys }
}

/// It is the same use case only if it was recorded by copies of one.
struct SessionStroke: SessionTyping {
  let desk: SessionDesk
  let keys: [String]?
}
