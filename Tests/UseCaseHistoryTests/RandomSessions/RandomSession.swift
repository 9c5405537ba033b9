import TestSupport
import UseCase
import UseCaseHistory

/// The next step of a random session. The numbers are taken modulo what there is, so that
/// every part of a session is a session too.
enum RandomStep {
  case edit, type(Int)
  case group(seed: UInt64)
  case undo, redo, move(Int), undoEntry(Int), redoEntry(Int), forget(Int)
  case undoIn(Int), redoIn(Int)
  case succeed, fail, lose, clearInside, askInside
  case cancel(Int)
  case clear, limit(Int?), savePoint, markSaved(Int), breakMerging, wait(Int), window(Int)

  static func random(_ random: inout some RandomNumberGenerator) -> Self {
    switch Int.random(in: -27..<100, using: &random) {
    case -27: .window([0, 400, 500].randomElement(using: &random) ?? 0)
    case -26..<(-24): .redoEntry(.random(in: 0..<1000, using: &random))
    case -24..<(-18): .undoIn(.random(in: 0..<1000, using: &random))
    case -18..<(-12): .redoIn(.random(in: 0..<1000, using: &random))
    case -12..<(-4): .undoEntry(.random(in: 0..<1000, using: &random))
    case -4..<(-2): .forget(.random(in: 0..<1000, using: &random))
    case -2..<0: .lose
    case 0..<12: .edit
    case 12..<22: .type(.random(in: 0..<8, using: &random))
    case 22..<27: .group(seed: .random(in: .min ... .max, using: &random))
    case 27..<36: .undo
    case 36..<43: .redo
    case 43..<46: .move(.random(in: 0..<1000, using: &random))
    case 46..<82: .succeed
    case 82..<87: .fail
    case 87: .clearInside
    case 88: .askInside
    case 89..<92: .cancel(.random(in: 0..<1000, using: &random))
    case 92: .clear
    case 93: .limit([nil, nil, 0, 1, 2, 3, 5].randomElement(using: &random) ?? nil)
    case 94: .savePoint
    case 95..<97: .markSaved(.random(in: 0..<1000, using: &random))
    case 97: .breakMerging
    default: .wait([1, 400, 500, 501].randomElement(using: &random) ?? 1)
    }
  }
}

/// Reproducible random numbers: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// Where the actions of a page wait for what is to become of them.
private final class Stage: Sendable {
  enum Order {
    case succeed, fail, lose
    case inside(@Sendable () async -> Void)
  }

  let begun = Watched(0)
  let done = Watched(0)
  let succeeded = Log<String>()
  private let orders = Watched<[Order]>([])

  func act(_ action: String) async throws {
    begun.update { $0 += 1 }
    while true {
      await orders.wait { !$0.isEmpty }
      switch orders.update({ $0.removeFirst() }) {
      case .succeed: return succeeded.append(action)
      case .fail: throw Failure(action)
      case .lose: throw HistoryObsolete(Failure(action))
      case .inside(let body):
        await body()
        done.update { $0 += 1 }
      }
    }
  }

  func order(_ order: Order) { orders.update { $0.append(order) } }
}

/// Does the same to a history and to the reference, and tells the first difference.
final class RandomSession {
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  private let reference = ReferenceHistory()
  private let page = Page()
  private let stage = Stage()
  private let clock = ManualClock()
  private let history: UseCaseHistory
  private var operations: [Int: any AnyRandomOperation] = [:]
  private var points: [(HistorySavePoint, [[Int]]?)] = []
  private var ids: [Int: HistoryEntry.ID] = [:]
  private var texts = 0
  private var insides = 0
  /// How much of the log has been compared: it only grows.
  private var compared = (page: 0, actions: 0)
  private var discarded: [String] = []
  private var last: HistoryState
  /// To look at a document asks executions that wait what they are going to touch.
  private var looksAtDocuments = false

  init() {
    history = UseCaseHistory(clock: clock)
    last = history.state
    page.direct { [stage] in try await stage.act($0) }
  }

  func run(_ steps: [RandomStep]) async throws {
    looksAtDocuments = steps.count.isMultiple(of: 2)
    for step in steps {
      await take(step)
      try await compare()
    }
    while !reference.queue.isEmpty {
      await take(.succeed)
      try await compare()
    }
    try await end()
  }

  private static let documents = ["x", "y", "z", "xy", "yz"]

  private static func footprint(_ keys: String) -> HistoryFootprint { .keys(keys.map { "\($0)" }) }

  private func text() -> String {
    texts += 1
    var random = SeededGenerator(seed: UInt64(texts))
    let footprint = [
      "", "", "@", "@x", "@y", "@z", "@x,y", "@x,z", "?@x", "?@y", "?@y,z",
    ].randomElement(using: &random)
    return "e\(texts)_\(footprint ?? "")"
  }

  /// Returns an entry, mostly one that is there.
  private func key(_ number: Int) -> Int? {
    let keys = number % 4 == 0 ? ids.keys.sorted() : reference.entries.map(\.key)
    return keys.isEmpty ? nil : keys[number % keys.count]
  }

  private func take(_ step: RandomStep) async {
    switch step {
    case .edit:
      let text = text()
      operations[reference.ask(.edit(text))] = RandomOperation(
        history.execute(Edit(page: page), text)
      ) { "\($0.number)" }
    case .type(let letter):
      let text = ["a", "b", "c", "a", "b", "x", "X", "Y"][letter]
      operations[reference.ask(.typing(text))] = RandomOperation(
        history.execute(Typing(page: page), text)
      ) { "\($0)" }
    case .group(let seed):
      var random = SeededGenerator(seed: seed)
      let script = ReferenceHistory.Script.random(&random, text: text)
      operations[reference.ask(.group(script))] = RandomOperation(
        script.execute(by: Edit(page: page).recorded(in: history), in: history),
        answer: { _ in "done" })
    case .undo:
      operations[reference.ask(.undo)] = RandomOperation(history.undo()) { $0?.title ?? "nil" }
    case .redo:
      operations[reference.ask(.redo)] = RandomOperation(history.redo()) { $0?.title ?? "nil" }
    case .move(let number):
      let key = ids.isEmpty || number % 5 == 0 ? nil : ids.keys.sorted()[number % ids.count]
      operations[reference.ask(.move(key))] = RandomOperation(
        history.move(to: key.flatMap { ids[$0] })
      ) { "[\($0.map(\.title).joined(separator: " "))]" }
    case .undoEntry(let number):
      guard let key = key(number), let id = ids[key] else { return }
      operations[reference.ask(.undoEntry(key))] = RandomOperation(history.undo(id)) {
        $0?.title ?? "nil"
      }
    case .redoEntry(let number):
      guard let key = key(number), let id = ids[key] else { return }
      operations[reference.ask(.redoEntry(key))] = RandomOperation(history.redo(id)) {
        $0?.title ?? "nil"
      }
    case .undoIn(let number):
      let keys = Self.documents[number % Self.documents.count]
      operations[reference.ask(.undoIn(Set(keys)))] = RandomOperation(
        history.undo(in: Self.footprint(keys))
      ) { $0?.title ?? "nil" }
    case .redoIn(let number):
      let keys = Self.documents[number % Self.documents.count]
      operations[reference.ask(.redoIn(Set(keys)))] = RandomOperation(
        history.redo(in: Self.footprint(keys))
      ) { $0?.title ?? "nil" }
    case .forget(let number):
      guard let key = key(number), let id = ids[key] else { return }
      history.forget(id)
      reference.forget(key)
    case .succeed, .fail, .lose, .clearInside, .askInside, .cancel: await direct(step)
    case .clear:
      history.clear()
      reference.clear()
    case .limit(let limit):
      history.limit = limit
      reference.setLimit(limit)
    case .savePoint: points.append((history.savePoint(), reference.savePoint()))
    case .markSaved(let number):
      guard !points.isEmpty else { return }
      let (point, saved) = points[number % points.count]
      history.markSaved(point)
      reference.saved = saved
    case .breakMerging:
      history.breakMerging()
      reference.breaks += 1
    case .window(let milliseconds):
      history.mergeWindow = .milliseconds(milliseconds)
      reference.window = milliseconds
    case .wait(let milliseconds):
      await clock.advance(by: .milliseconds(milliseconds))
      reference.time += milliseconds
    }
  }

  /// Does something to what runs.
  private func direct(_ step: RandomStep) async {
    guard let running = reference.queue.first else { return }
    switch step {
    case .succeed:
      stage.order(.succeed)
      reference.tell(.success)
    case .fail:
      stage.order(.fail)
      reference.tell(.failure)
    case .lose:
      // A body that throws the error just fails.
      let isExecution = reference.present.log.last?.hasPrefix("do ") == true
      stage.order(isExecution ? .fail : .lose)
      reference.tell(isExecution ? .failure : .obsolete)
    case .clearInside:
      running.clearsWhenOver = true
      await inside { [history] in history.clear() }
    case .askInside:
      await inside { [history] in
        let errors = [
          await history.undo().ended().historyError, await history.redo().ended().historyError,
          await history.move(to: nil).ended().historyError,
          await history.group("R") {}.ended().historyError,
        ]
        precondition(errors == [.reentrant, .reentrant, .reentrant, .reentrant])
      }
    case .cancel(let number):
      let index = number % reference.queue.count
      let operation = reference.queue[index]
      // The further steps of a tolerant body after its own cancellation are a race.
      if index == 0, case .group(let script) = operation.ask, script.isTolerant { return }
      operations[operation.id]?.cancel()
      reference.cancel(at: index)
    default: break
    }
  }

  private func inside(_ body: @escaping @Sendable () async -> Void) async {
    insides += 1
    stage.order(.inside(body))
    await stage.done.wait { [insides] in $0 == insides }
  }

  // MARK: Comparing

  private func compare() async throws {
    let present = reference.present
    try await settle("\(present.log.count) actions") { [stage] in
      stage.begun.value >= present.log.count
    }
    for id in reference.outcomes.keys {
      guard let operation = operations[id] else { continue }
      try await settle("operation \(id) ends") { operation.isOver }
      _ = await operation.ended([:])
    }
    try compareLogs(present.log, present.discards)
    try compareState()
    let keys = Dictionary(uniqueKeysWithValues: ids.map { ($0.value, $0.key) })
    for (id, expected) in reference.outcomes {
      guard let operation = operations.removeValue(forKey: id) else { continue }
      try check(expected, await operation.ended(keys), "outcome of \(id)")
    }
    reference.outcomes = [:]
  }

  private func compareLogs(_ log: [String], _ discards: [String]) throws {
    let news = page.log.elements[compared.page...]
    let actions = news.filter { !$0.hasPrefix("discard ") }
    try check(Array(log[compared.actions...]), actions, "log")
    compared.page += news.count
    compared.actions += actions.count
    guard actions.count < news.count || discards.count != discarded.count else { return }
    discarded += news.filter { $0.hasPrefix("discard ") }.map { String($0.dropFirst(8)) }
    try check(discards.sorted(), discarded.sorted(), "discards")
  }

  private func compareState() throws {
    let (state, entries) = (history.state, history.entries)
    var expected = reference.state
    if reference.isLoose, !state.isClean, expected[0].hasSuffix("*") { expected[0].removeLast() }
    try check(
      expected,
      [
        UseCaseHistory.layout(of: entries, state),
        "undo \(state.canUndo) \(state.undoTitle ?? "-") \(state.undoCount)",
        "redo \(state.canRedo) \(state.redoTitle ?? "-") \(state.redoCount)",
        "busy \(state.isBusy)",
      ], "state")
    if looksAtDocuments {
      for keys in Self.documents {
        let state = history.state(in: Self.footprint(keys))
        try check(
          reference.state(of: Set(keys)),
          [
            "undo \(state.canUndo) \(state.undoTitle ?? "-") \(state.undoCount)",
            "redo \(state.canRedo) \(state.redoTitle ?? "-") \(state.redoCount)",
          ], "state of \(keys)")
      }
    }
    let isLater = state.version > last.version || (state.version == last.version && state == last)
    try check(true, isLater, "the version grows")
    last = state
    for (entry, other) in zip(reference.entries, entries) {
      try check(ids[entry.key] ?? other.id, other.id, "identity")
      ids[entry.key] = other.id
    }
  }

  /// Waits until it holds. A session that fails here would hang in a test by hand.
  ///
  /// Time alone says nothing: on a busy machine the other tests may take all of it. So everything
  /// else has had many turns, too, before the session gives up.
  private func settle(_ what: String, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    var turns = 0
    while !condition() {
      guard turns < 1_000_000 || .now < deadline else {
        throw Difference(description: "never: \(what)")
      }
      turns += 1
      await Task.yield()
    }
  }

  private func check<Value: Equatable>(_ expected: Value, _ actual: Value, _ what: String) throws {
    guard expected != actual else { return }
    throw Difference(description: "\(what): \(actual), but expected: \(expected)")
  }

  /// All undone and all redone again is what was before, and then nothing is left.
  private func end() async throws {
    let before = history.entries.map(\.id)
    history.limit = nil
    reference.setLimit(nil)
    let count = history.state.undoCount
    for step in Array(repeating: RandomStep.undo, count: count)
      + Array(repeating: RandomStep.redo, count: count)
    {
      await take(step)
      while !reference.queue.isEmpty { await take(.succeed) }
      try await compare()
    }
    try check(before, history.entries.map(\.id), "all undone and redone")
    await take(.clear)
    try await compare()
    operations = [:]
    try await settle("no response is alive") { [page] in page.lifetime.alive == 0 }
    try checkLives()
  }

  /// The log of each edit reads `do (undo redo)* undo? discard?`, what fails aside.
  private func checkLives() throws {
    var lives: [String: String] = [:]
    for action in stage.succeeded.elements + page.discarded.map({ "discard \($0)" }) {
      let words = action.split(separator: " ")
      guard words[1].hasPrefix("e") else { continue }
      let text = words[1].prefix { $0 != "_" }
      lives[String(text), default: ""] += "\(words[0]) "
    }
    for (text, life) in lives {
      let words = life.split(separator: " ")
      let steps = words.last == "discard" ? words.dropLast() : words[...]
      let isGood = steps.enumerated().allSatisfy { index, word in
        word == (index == 0 ? "do" : index.isMultiple(of: 2) ? "redo" : "undo")
      }
      try check(true, isGood && !steps.isEmpty, "\(text): \(life)")
    }
  }
}

private protocol AnyRandomOperation {
  func cancel()
  func ended(_ keys: [HistoryEntry.ID: Int]) async -> String
  var isOver: Bool { get }
}

private struct RandomOperation<Request: Sendable, Response: Sendable>: AnyRandomOperation {
  let operation: UseCaseOperation<Request, Response>
  let answer: (Response) -> String

  init(_ operation: UseCaseOperation<Request, Response>, answer: @escaping (Response) -> String) {
    self.operation = operation
    self.answer = answer
  }

  func cancel() { operation.cancel() }

  var isOver: Bool { operation.state == .finished }

  func ended(_ keys: [HistoryEntry.ID: Int]) async -> String {
    switch await operation.ended() {
    case .success(let response): answer(response)
    case .cancelled: "cancelled"
    case .failure(let error): words(for: error, keys)
    }
  }

  private func words(for error: any Error, _ keys: [HistoryEntry.ID: Int]) -> String {
    switch error {
    case let failure as Failure: "failed \(failure.action)"
    case is CancellationError: "cancelled"
    case let group as HistoryGroupError: "group, \(words(for: group.cause, keys))"
    case let obsolete as HistoryObsolete:
      "obsolete \((obsolete.cause as? Failure)?.action ?? "")"
    case HistoryError.unknownEntry: "unknown"
    case HistoryError.blocked(let entries): "blocked \(entries.map { keys[$0] ?? 0 })"
    case HistoryError.outOfTurn: "outOfTurn"
    case HistoryError.reentrant: "reentrant"
    default: "\(error)"
    }
  }
}
