// The operation as its queue, and the keeper of its queue, see it.

extension UseCaseOperation: QueueMember {
  @usableFromInline
  func receive(_ id: UseCaseOperationID) { core.source.id = id }

  @usableFromInline var urgency: UInt8 { core.urgency }

  @usableFromInline
  func raise(to urgency: UInt8) { core.raise(to: urgency) }

  @usableFromInline var queueID: ObjectIdentifier { ObjectIdentifier(core.queue) }

  @usableFromInline var keeper: (any QueueKeeper)? { core.queue.keeper }

  @usableFromInline var dependents: Dependents? { core.source.dependents }

  @usableFromInline var isDeadlock: Bool { core.isDeadlock }

  @usableFromInline var verdict: Verdict? { core.verdict }

  @usableFromInline var parent: UseCaseOperationID? { core.parent }

  @usableFromInline var isOccupied: Bool { core.isOccupied }

  @usableFromInline
  func grant() { core.grant() }

  @usableFromInline
  func cancel(_ reason: UseCaseCancellation) { concludeEarly(.cancelled(reason)) }

  @usableFromInline
  func cancelFromQueue(_ reason: UseCaseCancellation) {
    concludeEarly(.cancelled(reason), isFromQueue: true)
    if reason == .superseded { core.source.dependents?.run?.supersedeRiders() }
  }

  @usableFromInline
  func riderComes() { core.riderComes(to: self) }

  @usableFromInline
  func riderHasEnded() { core.riderHasEnded() }

  @usableFromInline
  func enter() -> Bool { core.enter() }

  @usableFromInline
  func callIsOver() {
    core.source.dependents?.forgetCaller()
    core.source.dependents?.ride?.callIsOver(id)
  }

  @usableFromInline
  func noteCancellation(ofCall reason: UseCaseCancellation) {
    core.noteCancellation(ofCall: reason)
  }

  @usableFromInline
  func exit() {
    switch core.giveBack(core.exit()) {
    case .deliver, .deliverInAnotherTask: deliverInAnotherTask()
    case .nothing, .list: break
    }
  }
}

extension UseCaseOperation: AdmittedOperation {
  @usableFromInline package var useCaseType: any Any.Type { core.useCaseType }

  /// The use case, if it describes itself, until the body begins. On a queue with a keeper, until
  /// the body has returned.
  var described: (any DescribedUseCase)? {
    var useCase: (any UseCase<Request, Response>)?
    core.underLock { useCase = self.useCase }
    return useCase as? any DescribedUseCase
  }

  @usableFromInline package var baseType: any Any.Type {
    described?.baseType ?? core.useCaseType
  }

  @usableFromInline package var title: String? { described?.title(for: request) }

  @usableFromInline package var footprint: (any Sendable)? { described?.footprint(of: request) }

  @usableFromInline package var intent: (any Sendable)? { described?.intent(for: request) }
}
