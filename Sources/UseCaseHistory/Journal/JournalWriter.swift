final class JournalWriter: Sendable {
  var firstNumber: UInt64 { 0 }
  func draft<Base>(of type: Base.Type, _ request: Any) throws -> (any HistoryStep)? { nil }
  nonisolated(nonsending) func intent(_ lane: HistoryLane) async throws {}
  nonisolated(nonsending) func settle(_ lane: HistoryLane) async {}
  nonisolated(nonsending) func settleAll(_ lane: HistoryLane) async {}
  func start(_ lane: HistoryLane) {}
}
