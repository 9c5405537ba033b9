/// The answer to a client for a move that is done.
protocol MoveAnswer: Sendable {
  init(_ plan: inout HistoryPlan<any HistoryStep>)
  /// The type of the use case that gives the answer.
  static var useCaseType: any Any.Type { get }
}

extension HistoryEntry?: MoveAnswer {
  init(_ plan: inout HistoryPlan<any HistoryStep>) { self = plan.entry }
}

extension [HistoryEntry]: MoveAnswer {
  init(_ plan: inout HistoryPlan<any HistoryStep>) { self = plan.entries }
}
