/// The answer to a client for a move that is done.
protocol MoveAnswer: Sendable {
  init(_ plan: inout HistoryPlan<any HistoryStep>)
  /// There was nothing to do.
  static var nothing: Self { get }
  /// The type of the use case that gives the answer.
  static var useCaseType: any Any.Type { get }
}

extension HistoryEntry?: MoveAnswer {
  init(_ plan: inout HistoryPlan<any HistoryStep>) { self = plan.entry }
  static var nothing: Self { .none }
}

extension [HistoryEntry]: MoveAnswer {
  init(_ plan: inout HistoryPlan<any HistoryStep>) { self = plan.entries }
  static var nothing: Self { [] }
}
