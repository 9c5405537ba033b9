// The operation as its queue, and the delegate of its queue, see it.

extension UseCaseOperation: QueueMember {
  func receive(_ id: UseCaseOperationID) { core.source.id = id }

  var urgency: UInt8 { core.urgency }

  func raise(to urgency: UInt8) { core.raise(to: urgency) }

  var queueID: ObjectIdentifier { ObjectIdentifier(core.queue) }

  var delegate: (any QueueDelegate)? { core.queue.delegate }

  var dependents: Dependents? { core.source.dependents }

  var isDeadlock: Bool { core.isDeadlock }

  var verdict: Verdict? { core.verdict }

  var parent: UseCaseOperationID? { core.parent }

  var isOccupied: Bool { core.isOccupied }

  func grant() { core.grant() }

  func cancel(_ reason: UseCaseCancellation) { concludeEarly(.cancelled(reason)) }

  func cancelFromQueue(_ reason: UseCaseCancellation) {
    concludeEarly(.cancelled(reason), isFromQueue: true)
    if reason == .superseded { core.source.dependents?.run?.supersedeRiders() }
  }

  func riderComes() { core.riderComes(to: self) }

  func riderHasEnded() { core.riderHasEnded() }

  func enter() -> Bool { core.enter() }

  func callIsOver() {
    core.source.dependents?.forgetCaller()
    core.source.dependents?.ride?.callIsOver(id)
  }

  func noteCancellation(ofCall reason: UseCaseCancellation) {
    core.noteCancellation(ofCall: reason)
  }

  func exit() {
    switch core.giveBack(core.exit()) {
    case .deliver, .deliverInAnotherTask: deliverInAnotherTask()
    case .nothing, .list: break
    }
  }
}

extension HeldSlots.Holder {
  @usableFromInline
  init<Request, Response>(_ operation: UseCaseOperation<Request, Response>) {
    self.init(member: operation)
  }
}

extension UseCaseOperation: AdmittedOperation {
  package var useCaseType: any Any.Type { core.useCaseType }

  /// The use case, if it describes itself, until the body begins. On a queue with a delegate, until
  /// the body has returned.
  var described: (any DescribedUseCase)? {
    var useCase: (any UseCase<Request, Response>)?
    core.underLock { useCase = self.useCase }
    // Opened first: a cast of the existential would ask for the metadata of its type, too.
    func described(_ useCase: some UseCase) -> (any DescribedUseCase)? {
      useCase as? any DescribedUseCase
    }
    if let useCase { return described(useCase) }
    return nil
  }

  package var baseType: any Any.Type {
    described?.baseType ?? core.useCaseType
  }

  package var title: String? { described?.title(for: request) }

  package var footprint: (any Sendable)? { described?.footprint(of: request) }

  package func announce() { described?.announce(request, of: id) }
}
