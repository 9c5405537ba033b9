/// A use case as its journal sees it.
struct JournaledKind<Base: JournaledUseCase>: JournalKind {
  let base: Base

  var type: any Any.Type { Base.self }

  func request(_ request: Any, _ coder: any HistoryCoder) throws -> [UInt8] {
    guard let request = request as? Base.Request else {
      preconditionFailure("The type of the use case has been compared.")
    }
    return try coder.encode(request)
  }

  func response(of step: any HistoryStep, _ coder: any HistoryCoder) throws -> [UInt8] {
    try coder.encode(recorded(step).response)
  }

  func pair(
    of step: any HistoryStep, named name: String, _ coder: any HistoryCoder
  ) throws -> HistoryPair {
    let step = recorded(step)
    return HistoryPair(
      name: name, request: try coder.encode(step.request), response: try coder.encode(step.response)
    )
  }

  private func recorded(_ step: any HistoryStep) -> RecordedStep<Base> {
    guard let step = step as? RecordedStep<Base> else {
      preconditionFailure("The type of the use case has been compared.")
    }
    return step
  }

  func step(_ pair: HistoryPair, _ coder: any HistoryCoder) throws -> any HistoryStep {
    let (request, response) = try values(pair, coder)
    return RecordedStep(base, RecordedIdentity(of: RecordedUseCase<Base>.self), request, response)
  }

  private func values(
    _ pair: HistoryPair, _ coder: any HistoryCoder
  ) throws -> (Base.Request, Base.Response) {
    guard let response = pair.response else { throw HistoryJournalError(.unreadable(pair.name)) }
    return (
      try coder.decode(Base.Request.self, from: pair.request),
      try coder.decode(Base.Response.self, from: response)
    )
  }

  func title(_ pair: HistoryPair, _ coder: any HistoryCoder) throws -> String {
    base.title(for: try coder.decode(Base.Request.self, from: pair.request))
  }

  func settle(_ doubt: JournalDoubt, _ coder: any HistoryCoder) async -> JournalAnswer {
    let question: HistoryDoubt<Base.Request, Base.Response>
    do {
      switch doubt.kind {
      case .execution:
        question = .execution(try coder.decode(Base.Request.self, from: doubt.pair.request))
      case .undo:
        let (request, response) = try values(doubt.pair, coder)
        question = .undo(request, response)
      case .redo:
        let (request, response) = try values(doubt.pair, coder)
        question = .redo(request, response)
      }
    } catch {
      return .unreadable
    }
    do {
      switch try await base.settle(question) {
      case .hadNoEffect: return .noEffect
      case .hadEffect(let response):
        return .effect(doubt.kind == .undo ? nil : try coder.encode(response))
      case .unknown: return .unknown
      }
    } catch {
      return .unknown
    }
  }
}

extension JournaledUseCase {
  var kind: any JournalKind { JournaledKind(base: self) }
}
