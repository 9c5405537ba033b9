import UseCase
import UseCaseInternals

/// A step of a history with a journal: its bytes, and the step itself if this process has made it.
final class StoredStep: HistoryStep {
  private let kinds: JournalKinds
  /// Without its response.
  private let stored: HistoryPair
  private let made: (any HistoryStep)?
  /// Nil before there is one, and as long as it cannot be encoded.
  private let response: Lock<[UInt8]?>

  init(_ pair: HistoryPair, made: (any HistoryStep)? = nil, _ kinds: JournalKinds) {
    (self.kinds, self.made) = (kinds, made)
    var stored = pair
    response = Lock(stored.response.take())
    self.stored = stored
  }

  /// Creates the intent of an execution.
  convenience init<Base: UndoableUseCase>(
    _ request: Base.Request, by _: Base.Type, title: String, _ kinds: JournalKinds
  ) throws {
    guard let kind = kinds[Base.self] else {
      throw HistoryJournalError(.notJournaled("\(Base.self)"))
    }
    do {
      let (title, bytes) = try kind.encode(request, title: title, kinds.coder)
      let pair = HistoryPair(name: type(of: kind).journalName, title: title, request: bytes)
      self.init(pair, kinds)
    } catch {
      throw HistoryJournalError(.cannotWrite, cause: error)
    }
  }

  /// The same execution, with the response of this step.
  ///
  /// A response that cannot be encoded is tried again whenever the row is written.
  func answered(_ step: any HistoryStep) -> StoredStep { StoredStep(stored, made: step, kinds) }

  /// The merged execution of this one and another.
  private func merged(_ step: any HistoryStep) throws -> StoredStep {
    guard let kind = kinds[step.values.useCase] else {
      throw HistoryJournalError(.notJournaled("\(step.values.useCase)"))
    }
    let (title, request) = try kind.encode(step.values.request, title: step.title, kinds.coder)
    return StoredStep(
      HistoryPair(name: stored.name, title: title, request: request), made: step, kinds)
  }

  /// The bytes to write, with the response as soon as it can be encoded.
  var pair: HistoryPair {
    var pair = stored
    pair.response = response.withLock { $0 }
    guard pair.response == nil, let made, let kind = kinds[made.values.useCase] else { return pair }
    let bytes = try? kind.encode(response: made.values.response, kinds.coder)
    response.withLock { $0 = bytes }
    pair.response = bytes
    return pair
  }

  /// Whether the execution has a response that could not be encoded.
  var lacksResponse: Bool { made != nil && response.withLock { $0 == nil } }

  /// The step. If it was read, its use case is the one that was given to `open`.
  var step: any HistoryStep {
    get throws {
      if let made { return made }
      let unreadable = HistoryJournalError(.unreadable(stored.name))
      guard let kind = kinds[stored.name], let response = response.withLock({ $0 })
      else { throw unreadable }
      do {
        return try kind.step(stored.request, response, kinds.coder)
      } catch {
        throw HistoryJournalError(.unreadable(stored.name), cause: error)
      }
    }
  }

  /// Whether a use case of this app can read the request.
  var isReadable: Bool {
    made != nil || kinds[stored.name]?.canRead(stored.request, kinds.coder) == true
  }

  var title: String {
    (try? kinds.coder.decode(String.self, from: stored.title)) ?? stored.name
  }

  var footprint: HistoryFootprint { (try? step.footprint) ?? .everything }

  /// Asks whether the execution, undo or redo took effect. Nil if nobody can tell.
  func settle(
    _ state: HistoryRow<any HistoryStep>.State
  ) async -> HistorySettlement<[UInt8]>? {
    await kinds[stored.name]?
      .settle(state, stored.request, response.withLock { $0 }, kinds.coder)
  }

  /// The execution took effect, and had this response.
  func answered(_ response: [UInt8]) -> StoredStep {
    var pair = stored
    pair.response = response
    return StoredStep(pair, kinds)
  }

  func undo(for purpose: UseCaseExecution.Purpose, in scope: StepScope?) async throws
    -> (any Error)?
  {
    try await step.undo(for: purpose, in: scope)
  }

  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?) {
    let (redone, failure) = try await step.redo(in: scope)
    return (answered(redone), failure)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? StoredStep, let step = try? step, let other = try? later.step
    else { return .separate }
    switch step.merging(other) {
    case .separate: return .separate
    case .merged(let merged):
      guard let stored = try? self.merged(merged) else { return .separate }
      return .merged(stored)
    case .annul: return .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) { try? step.discard(reason) }

  /// Whether `discard` has to wait for a version of the app that can read it. None can make a step
  /// without a response.
  var isToBeDiscardedLater: Bool {
    if made != nil || response.withLock({ $0 == nil }) { return false }
    do {
      _ = try step
      return false
    } catch {
      return true
    }
  }

  var values: (useCase: any Any.Type, request: Any, response: Any) {
    preconditionFailure("A stored step is in its journal.")
  }
}

extension JournaledUseCase {
  fileprivate func canRead(_ request: [UInt8], _ coder: any HistoryCoder) -> Bool {
    (try? coder.decode(Request.self, from: request)) != nil
  }
}
