/// A journaled use case, whatever the types of its request and response.
protocol JournalKind: Sendable {
  var type: any Any.Type { get }

  func request(_ request: Any, _ coder: any HistoryCoder) throws -> [UInt8]
  func response(of step: any HistoryStep, _ coder: any HistoryCoder) throws -> [UInt8]
  /// The request and the response of a step that was merged of two.
  func pair(
    of step: any HistoryStep, named name: String, _ coder: any HistoryCoder
  ) throws -> HistoryPair

  func step(_ pair: HistoryPair, _ coder: any HistoryCoder) throws -> any HistoryStep
  /// The title of an execution that may have no response.
  func title(_ pair: HistoryPair, _ coder: any HistoryCoder) throws -> String
  func settle(_ doubt: JournalDoubt, _ coder: any HistoryCoder) async -> JournalAnswer
}
