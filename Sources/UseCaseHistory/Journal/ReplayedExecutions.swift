/// The executions that have not ended, as far as a journal has been told.
struct ReplayedExecutions {
  typealias ID = HistoryEntry.ID
  typealias Malformed = HistoryFact.Malformed

  struct Execution {
    let id: ID
    let group: ID?
    var pair: HistoryPair
    /// Whether an earlier launch has found it interrupted, and could not read or settle it.
    let isLeftOver: Bool
    /// Whether it has an effect.
    var isAnswered = false
    /// The newest entry, as it is if this execution has merged into it.
    var combined: HistoryPair?
    /// The newest entry then.
    var earlier: ID?
    /// How often the history had been cleared when it began.
    fileprivate let clears: Int
  }

  private var running: [ID: Execution] = [:]
  private var leftOver: [ID: Execution] = [:]
  private var clears = 0

  mutating func begin(_ id: ID, in group: ID?, _ pair: HistoryPair, isLeftOver: Bool) {
    let execution = Execution(
      id: id, group: group, pair: pair, isLeftOver: isLeftOver, clears: clears)
    if isLeftOver { leftOver[id] = execution } else { running[id] = execution }
  }

  /// Returns the execution that runs.
  func running(_ id: ID) throws -> Execution {
    guard let execution = running[id] else { throw Malformed("No execution \(id) runs.") }
    return execution
  }

  mutating func answer(_ id: ID, _ response: [UInt8]?, isMarked: Bool) throws {
    let execution = try running(id)
    guard !execution.isAnswered else { throw Malformed("Execution \(id) has its response.") }
    running[id]?.pair = execution.pair.answered(response, isMarked: isMarked)
    running[id]?.isAnswered = true
  }

  /// The execution is to merge into this entry.
  mutating func combine(_ id: ID, _ pair: HistoryPair, with earlier: ID?) throws {
    guard try running(id).isAnswered else { throw Malformed("Execution \(id) has no response.") }
    running[id]?.combined = pair
    running[id]?.earlier = earlier
  }

  /// The execution had no effect. Returns it, if it runs.
  mutating func fail(_ id: ID) throws -> Execution? {
    guard let execution = running[id] else { return nil }
    guard !execution.isAnswered else { throw Malformed("Execution \(id) has its response.") }
    running[id] = nil
    return execution
  }

  /// Returns an execution that has an effect, and ends.
  mutating func end(_ id: ID) throws -> Execution {
    let execution = try running(id)
    guard execution.isAnswered else { throw Malformed("Execution \(id) has no response.") }
    running[id] = nil
    return execution
  }

  /// The history is cleared.
  mutating func noteClear() {
    leftOver = [:]
    clears += 1
  }

  /// An execution that is in doubt is forgotten.
  mutating func forget(_ id: ID) { leftOver[id] = nil }
}

// MARK: - The end

extension ReplayedExecutions {
  /// The executions that have to be settled, in the order asked for.
  var unsettled: [Execution] { all.filter { !$0.isAnswered && !$0.pair.isInDoubt } }

  /// All of them, in the order asked for.
  var all: [Execution] {
    (Array(running.values) + leftOver.values).sorted { $0.id < $1.id }
  }

  /// Takes an answer about one of them, nil if no use case could be asked. Returns whether the saved
  /// place is uncertain now.
  mutating func settle(_ id: ID, _ answer: HistorySettlement<[UInt8]?>?) -> Bool {
    let isLeftOver = leftOver[id] != nil
    guard var execution = leftOver[id] ?? running[id] else {
      preconditionFailure("Only an execution in doubt is settled, and \(id) is none.")
    }
    switch answer {
    case .hadNoEffect:
      (leftOver[id], running[id]) = (nil, nil)
      return false
    case .hadEffect(let response):
      execution.pair = execution.pair.answered(response, isMarked: true)
      execution.isAnswered = true
    case .unknown: execution.pair.isInDoubt = true
    case nil: return !isLeftOver
    }
    if isLeftOver { leftOver[id] = execution } else { running[id] = execution }
    return !execution.isAnswered
  }

  /// Removes and returns those that have an effect, in the order asked for. If no use case could say
  /// whether one had an effect, and the history was cleared meanwhile, it leaves.
  mutating func takeAnswered() -> [(execution: Execution, isLost: Bool)] {
    let answered = all.filter(\.isAnswered).map { ($0, $0.clears < clears) }
    leftOver = leftOver.filter { !$0.value.isAnswered }
    running = running.filter { !$0.value.isAnswered && $0.value.clears == clears }
    return answered
  }
}
