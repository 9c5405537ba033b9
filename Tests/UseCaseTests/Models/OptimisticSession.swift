import Observation
import TestSupport

@testable import UseCase

/// What an `OptimisticValue` holds in a random session. A change is known by its number.
protocol Changeable: Equatable, Sendable {
  /// What the server has: at first, and whenever it is asked.
  init(seed: Int)

  /// Makes a change, once there is the response with that.
  mutating func make(_ number: Int, _ response: Int?)
}

struct Heart: Changeable {
  var isLiked: Bool
  init(seed: Int) { isLiked = !seed.isMultiple(of: 2) }
  mutating func make(_ number: Int, _ response: Int?) {
    isLiked = !(response ?? number).isMultiple(of: 2)
  }
}

struct Counter: Changeable {
  var count: Int
  init(seed: Int) { count = seed }
  mutating func make(_ number: Int, _ response: Int?) { count += response ?? 1 }
}

/// Rows with ids, of which each change inserts, deletes or moves one.
struct Rows: Changeable {
  var ids: [Int]
  init(seed: Int) { ids = Array(seed..<seed + 3) }
  mutating func make(_ number: Int, _ response: Int?) {
    let id = response ?? number + 10
    switch number % 3 {
    case 1: if !ids.contains(id) { ids.insert(id, at: number % (ids.count + 1)) }
    case 2: ids.removeAll { $0 == number - 2 || $0 == id - 1 }
    default:
      if let index = ids.firstIndex(of: number - 1) { ids.insert(ids.remove(at: index), at: 0) }
    }
  }
}

/// The rules of an optimistic value, as a list of all changes in the order of the calls.
struct OptimisticRules<Value: Changeable> {
  private struct Change {
    let number: Int
    /// The response, if the change is made with it.
    var response: Int?
    /// The number of its success; nil without an outcome.
    var success: Int?
  }

  /// What the server has said, which has the successes up to a number.
  private var (word, known): (Value, Int)
  /// The changes that have not failed.
  private var changes: [Change] = []
  private var ends: [(number: Int, error: (any Error)?)] = []
  private(set) var successes = 0
  private(set) var isUncertain = false

  init(_ word: Value) { (self.word, known) = (word, 0) }

  var value: Value { made(left) }
  var confirmed: Value { made(left.prefix { $0.success != nil }) }
  var isPending: Bool { changes.contains { $0.success == nil } }

  /// Of the last failure, unless a change that was asked for later has succeeded after it.
  var error: (any Error)? {
    guard let last = ends.lastIndex(where: { $0.error != nil }) else { return nil }
    return ends[last...].contains { $0.number > ends[last].number } ? nil : ends[last].error
  }

  private var left: [Change] { changes.filter { $0.success.map { $0 > known } ?? true } }

  private func made(_ changes: some Sequence<Change>) -> Value {
    changes.reduce(into: word) { $0.make($1.number, $1.response) }
  }

  mutating func ask(_ number: Int) { changes.append(Change(number: number)) }

  mutating func succeed(_ number: Int, _ response: Int?) {
    guard let index = changes.firstIndex(where: { $0.number == number }) else { return }
    successes += 1
    (changes[index].success, changes[index].response) = (successes, response)
    ends.append((number, nil))
  }

  mutating func fail(_ number: Int, _ error: (any Error)?, mayBeThere: Bool) {
    changes.removeAll { $0.number == number }
    if let error { ends.append((number, error)) }
    if mayBeThere { isUncertain = true }
  }

  mutating func confirm(_ value: Value, since successes: Int) {
    (word, known, isUncertain) = (value, successes, false)
  }
}

/// A queue, an optimistic value, and the rules that it is compared with: after each event, and in
/// each handler.
@MainActor
final class OptimisticSession<Value: Changeable> {
  enum End: CaseIterable {
    case succeeds, fails, isCancelled, timesOut
  }

  private struct Write {
    let operation: Operation
    let gate: Gate
    let end: End
    let takesResponse: Bool
    /// Whether its first handler has run.
    var isHeard = false
  }

  private struct Refusal: Error {
    let number: Int
  }

  private var random: SeededGenerator
  private let clock = ManualClock()
  private let started = Log<UseCaseOperationID>()
  private let begun = Log<Int>()
  private let queue: UseCaseQueue
  private let optimistic: OptimisticValue<Value>
  private var rules: OptimisticRules<Value>
  private var writes: [Int: Write] = [:]
  private var marks: [(mark: OptimisticValue<Value>.Mark, successes: Int)] = []
  private var changed = Watched(true)
  private var trace: [String] = []
  private var handlersAct = false
  /// The first broken rule, with all that came before it.
  private(set) var broken: String?
  /// Each value that was shown.
  private(set) var shown: [Value]

  init(_ policy: UseCaseQueue.Policy, seed: Int = 0) {
    let (word, started) = (Value(seed: seed), started)
    random = SeededGenerator(seed: UInt64(seed))
    queue = UseCaseQueue(policy, clock: clock) { if $0.kind == .running { started.append($0.id) } }
    (optimistic, rules, shown) = (OptimisticValue(word), OptimisticRules(word), [word])
    check("the start")
  }

  // MARK: Events

  func change(_ end: End, takesResponse: Bool = false, isDeaf: Bool = false, isLate: Bool = false) {
    let (number, gate, begun) = (writes.count + 1, Gate(), begun)
    let timeout = end == .timesOut ? Duration.seconds(1) : UseCaseTimeout.never
    let write = AnyUseCase<Int, Int>(queue: queue, timeout: timeout) { number in
      begun.append(number)
      if isDeaf { await gate.passIgnoringCancellation() } else { try await gate.pass() }
      if end == .fails { throw Refusal(number: number) }
      return number + 100
    }
    let operation = write.execute(number)
    writes[number] = Write(
      operation: operation, gate: gate, end: end, takesResponse: takesResponse)
    if !isLate { attach(number, operation) }
    rules.ask(number)
    show(number, of: operation, takesResponse)
    if isLate { attach(number, operation) }
    check("change \(number), which \(end)")
  }

  private func show(_ number: Int, of operation: Operation, _ takesResponse: Bool) {
    // No gate of the operation is open: if it has no outcome now, it has none in the next line.
    let outcome = operation.outcome
    optimistic.change(
      operation, { $0.make(number, nil) },
      confirmed: takesResponse ? { $0.make(number, $1) } : nil)
    if outcome != nil { settle(number, operation, takesResponse) }
  }

  /// A change of an operation that has its outcome.
  private func changeLate(_ number: Int) {
    guard let operation = writes[number]?.operation, operation.outcome != nil else { return }
    let again = writes.count + 1
    writes[again] = writes[number]
    writes[again]?.isHeard = true
    rules.ask(again)
    show(again, of: operation, true)
    check("change \(again) of the operation \(number)")
  }

  func end(_ number: Int) async {
    guard let write = writes[number] else { return }
    while write.operation.state == .running, !begun.elements.contains(number) {
      await Task.yield()
    }
    switch write.end {
    case .succeeds, .fails: write.gate.open()
    case .isCancelled: write.operation.cancel()
    case .timesOut:
      // Its timer may not sleep yet.
      while write.operation.state == .running {
        await clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    check("the end of \(number)")
    while write.operation.state == .running { await Task.yield() }
    while writes.values.contains(where: { $0.operation.outcome != nil && !$0.isHeard }) {
      await Task.yield()
    }
    check("the handlers of \(number)")
  }

  private func confirm(since entry: (mark: OptimisticValue<Value>.Mark, successes: Int)?) {
    let word = Value(seed: Int.random(in: 0..<9, using: &random))
    let due = haveOutcome
    optimistic.confirm(word, since: entry?.mark)
    takeSettled(due)
    rules.confirm(word, since: entry?.successes ?? rules.successes)
    check("confirm \(word) since \(entry.map { "\($0.successes)" } ?? "now")")
  }

  private var haveOutcome: [Int] { writes.filter { $0.value.operation.outcome != nil }.map(\.key) }

  /// A mark and a confirm have settled what had its outcome, and perhaps what has got it meanwhile,
  /// before a handler has told.
  private func takeSettled(_ due: [Int]) {
    let unsettled = optimistic.unsettled
    if due.contains(where: unsettled.contains) { fault("an outcome is left") }
    for (number, write) in writes.sorted(by: { $0.key < $1.key })
    where !write.isHeard && !unsettled.contains(number) {
      settle(number, write.operation, write.takesResponse)
    }
  }

  /// Does one thing, by chance.
  private func step() {
    let number = Int.random(in: 1...max(1, writes.count), using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6:
      change(
        [.succeeds, .succeeds, .fails, .timesOut].randomElement(using: &random) ?? .succeeds,
        takesResponse: .random(using: &random), isDeaf: .random(using: &random),
        isLate: .random(using: &random))
    case 6..<11: writes[number]?.gate.open()
    case 11..<13: writes[number]?.operation.cancel()
    case 13: changeLate(number)
    case 14:
      let due = haveOutcome
      let mark = optimistic.mark()
      takeSettled(due)
      marks.append((mark, rules.successes))
    case 15: if !marks.isEmpty { marks.removeFirst() }
    case 16: confirm(since: nil)
    case 17, 18: confirm(since: marks.randomElement(using: &random))
    default:
      if Bool.random(using: &random) { queue.suspend() } else { queue.cancelAll() }
    }
    check("a step with \(number)")
  }

  func run() async {
    handlersAct = true
    for _ in 0..<30 {
      step()
      queue.resume()
      for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
      if Int.random(in: 0..<8, using: &random) == 0 { await clock.advance(by: .seconds(1)) }
      check("a while")
    }
    await finish()
  }

  /// Lets all end, and checks that nothing is pending.
  func finish() async {
    handlersAct = false
    for write in writes.values { write.gate.open() }
    queue.resume()
    queue.flush()
    await queue.idle()
    check("the end")
    if writes.values.contains(where: { !$0.isHeard }) { fault("a handler has not run") }
    if optimistic.isPending || optimistic.value != optimistic.confirmed { fault("not settled") }
  }

  // MARK: Handlers

  private func attach(_ number: Int, _ operation: Operation) {
    operation
      .then { _ in self.hear(number, "then") }
      .catch { _ in self.hear(number, "catch") }
      .onCancel { _ in self.hear(number, "onCancel") }
      .finally { self.hear(number, "finally") }
  }

  /// A handler runs. Before the first one, the change has been settled.
  private func hear(_ number: Int, _ handler: String) {
    if let write = writes[number], !write.isHeard {
      writes[number]?.isHeard = true
      settle(number, write.operation, write.takesResponse)
    }
    check("`\(handler)` of \(number)")
    if handlersAct, Int.random(in: 0..<4, using: &random) == 0 { step() }
  }

  private func settle(_ number: Int, _ operation: Operation, _ takesResponse: Bool) {
    // A body that is about to begin may begin before its cancellation or after.
    let hasBegun =
      begun.elements.contains(operation.request)
      || started.elements.contains(operation.id) && optimistic.isUncertain
    writes[number]?.isHeard = true
    switch operation.outcome {
    case .success(let response): rules.succeed(number, takesResponse ? response : nil)
    case .failure(let error):
      rules.fail(number, error, mayBeThere: error is UseCaseTimeout && hasBegun)
    case .cancelled(let reason):
      rules.fail(number, nil, mayBeThere: reason != .thrown && hasBegun)
    case nil: fault("a handler of \(number) runs without an outcome")
    }
  }

  // MARK: Comparing

  private func check(_ event: String) {
    trace.append(event)
    compare("value", optimistic.value, rules.value)
    compare("confirmed", optimistic.confirmed, rules.confirmed)
    compare("isPending", optimistic.isPending, rules.isPending)
    compare("isUncertain", optimistic.isUncertain, rules.isUncertain)
    compare("error", key(of: optimistic.error), key(of: rules.error))
    let isNew = optimistic.value != shown.last
    if isNew { shown.append(optimistic.value) }
    // Nothing but one event has happened since the last time.
    if trace.count > 1 { compare("a view of `value` is told", changed.value, isNew) }
    if changed.value {
      let changed = Watched(false)
      self.changed = changed
      withObservationTracking {
        _ = optimistic.value
      } onChange: {
        changed.update { $0 = true }
      }
    }
  }

  private func key(of error: (any Error)?) -> Int? {
    error.map { ($0 as? Refusal)?.number ?? 0 }
  }

  private func compare<Part: Equatable>(_ name: String, _ part: Part, _ expected: Part) {
    if part != expected { fault("\(name) is \(part), not \(expected)") }
  }

  private func fault(_ sentence: String) {
    if broken == nil { broken = "\(sentence), after \(trace.joined(separator: "; "))" }
  }
}
