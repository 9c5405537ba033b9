import Foundation
import UseCase

/// The time since a session began.
struct SessionClock: Sendable {
  private let start = ContinuousClock.now

  var milliseconds: Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }
}

/// One page that somebody looks at: its queues, its lists and their history.
actor Session {
  enum Command: Sendable {
    case type([String])
    case change(Weather)
    case compose(ComposedPolicy)
    case clear
    case undo(UndoRequest)
  }

  /// No hand strikes more keys. Of more only the last ones count, so that the last of all does.
  static let keysPerSecond = 100

  nonisolated let id = UUID().uuidString
  nonisolated let log = EventLog()
  private nonisolated let clock = SessionClock()
  private nonisolated let commands: AsyncStream<Command>
  private nonisolated let sender: AsyncStream<Command>.Continuation
  private var rows: [PolicyRow] = []
  private var composed = ComposedPolicy()
  private var weather: Weather
  private var number = 0
  private var leftOut = 0
  private var allowance = Allowance(perSecond: keysPerSecond)
  private let desk: UndoDesk
  private let isRecorded: Bool

  /// A session that is recorded has the named policies alone.
  init(weather: Weather = Weather(), isRecorded: Bool = false) {
    (self.weather, self.isRecorded) = (weather, isRecorded)
    desk = UndoDesk(log: log)
    (commands, sender) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(256))
  }

  /// Tells the page what there is, and does what it asks for from then on.
  nonisolated func begin() {
    Task {
      await open()
      for await command in commands { await perform(command) }
      await cancelAll()
    }
  }

  /// Returns false if there is too much to do already.
  nonisolated func send(_ command: Command) -> Bool {
    if case .dropped = sender.yield(command) { false } else { true }
  }

  nonisolated func end() {
    sender.finish()
    log.close()
  }

  func open() async {
    let own = isRecorded ? [] : [(composed.row, composed.policy)]
    let policies = NamedPolicy.all + own
    rows = policies.enumerated().map { index, entry in row(index, entry.policy) }
    let hello = Hello(
      session: id, rows: policies.map(\.row), weather: weather, composed: composed)
    log.set("hello", hello.json)
    if !isRecorded { await desk.open() }
  }

  private func row(_ number: Int, _ policy: UseCaseQueue.Policy) -> PolicyRow {
    PolicyRow(number: number, policy: policy, clock: clock, log: log)
  }

  private func perform(_ command: Command) async {
    switch command {
    case .type(let texts):
      let count = max(1, min(texts.count, allowance.take(texts.count, at: clock.milliseconds)))
      for text in texts.suffix(count) { type(text) }
      guard count < texts.count else { return }
      leftOut += texts.count - count
      log.set("leftOut", "\(leftOut)")
    case .change(let weather): self.weather = weather
    case .compose(let policy):
      composed = policy
      rows[rows.count - 1].cancelAll()
      rows[rows.count - 1] = row(rows.count - 1, policy.policy)
      log.set("composed", policy.row.json)
    case .clear:
      cancelAll()
    case .undo(let request):
      await desk.perform(request)
    }
  }

  private func cancelAll() {
    for row in rows { row.cancelAll() }
  }

  /// Asks in every row for what is in the field now.
  func type(_ text: String) {
    number += 1
    let keystroke = Keystroke(number: number, text: text, weather: weather)
    log.add("[\(clock.milliseconds),-1,\(number),\"key\",\(text.json)]")
    // In a line by priority, capital letters go first.
    let isUrgent = composed.isByPriority && text.last?.isUppercase == true
    for index in rows.indices {
      rows[index].execute(keystroke, priority: isUrgent ? .high : nil)?
        .then { _ in self.rows[index].show(keystroke.number) }
        .catch { _ in self.rows[index].showFailure(keystroke.number) }
    }
  }

  /// Returns when the end of each search is told.
  func ended() async {
    for row in rows { await row.ended() }
  }
}

/// The first event of a page.
private struct Hello: Encodable {
  let session: String
  let rows: [NamedPolicy]
  let weather: Weather
  let composed: ComposedPolicy
}

/// So many in a second, and as many at once.
struct Allowance {
  private let perSecond: Int
  private var rest: Double
  private var last = 0

  init(perSecond: Int) {
    self.perSecond = perSecond
    rest = Double(perSecond)
  }

  /// Takes as many as are left at a time in milliseconds, and returns how many these are.
  mutating func take(_ count: Int, at time: Int) -> Int {
    rest = min(Double(perSecond), rest + Double((time - last) * perSecond) / 1000)
    last = time
    let taken = min(count, Int(rest))
    rest -= Double(taken)
    return taken
  }
}
