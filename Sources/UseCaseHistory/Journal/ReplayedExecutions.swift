/// The executions that have not ended, as far as a journal has been told.
struct ReplayedExecutions {
  typealias ID = HistoryEntry.ID

  struct Execution {
    let id: ID
    let group: ID?
    var pair: HistoryPair
    /// Whether an earlier launch has found it interrupted, and could not read it.
    let isUnread: Bool
    /// Whether it has an effect.
    var isAnswered = false
    /// The newest entry, as it is if this execution has merged into it.
    var combined: HistoryPair?
    /// The history was cleared meanwhile.
    var isLost = false
  }

  private var executions: [ID: Execution] = [:]

  mutating func begin(
    _ id: ID, in group: ID?, _ pair: HistoryPair, isUnread: Bool
  ) throws {
    guard executions[id] == nil else { throw HistoryFact.Malformed() }
    executions[id] = Execution(id: id, group: group, pair: pair, isUnread: isUnread)
  }

  mutating func answer(_ id: ID, _ response: [UInt8]?, isMarked: Bool) throws {
    guard let pair = executions[id]?.pair else { throw HistoryFact.Malformed() }
    executions[id]?.pair = pair.answered(response, isMarked: isMarked)
    executions[id]?.isAnswered = true
  }

  mutating func combine(_ id: ID, _ pair: HistoryPair) throws {
    guard executions[id] != nil else { throw HistoryFact.Malformed() }
    executions[id]?.combined = pair
  }

  func isUnread(_ id: ID) -> Bool { executions[id]?.isUnread ?? false }

  mutating func doubt(_ id: ID) { executions[id]?.pair.isInDoubt = true }

  /// The execution had no effect, or is forgotten.
  mutating func remove(_ id: ID) { executions[id] = nil }

  /// Returns an execution that has an effect, and ends.
  mutating func end(_ id: ID) throws -> Execution {
    guard let execution = executions.removeValue(forKey: id), execution.isAnswered
    else { throw HistoryFact.Malformed() }
    return execution
  }

  /// The history is cleared.
  mutating func clear() {
    executions = executions.filter { !$0.value.pair.isInDoubt && !$0.value.isUnread }
    for id in executions.keys { executions[id]?.isLost = true }
  }

  /// At this launch no use case can say whether these had an effect, and the history was cleared
  /// meanwhile: they leave.
  mutating func removeLostInDoubt() {
    executions = executions.filter { !$0.value.isLost || $0.value.isAnswered }
  }

  /// All of them, in the order asked for.
  var all: [Execution] { executions.values.sorted { $0.id < $1.id } }
}
