import Synchronization
import UseCaseInternals

/// A step as a journal keeps it: its bytes, and the step that they mean, made when it is needed.
///
/// The undo and the redo are written ahead. Unreadable bytes are kept as they are.
final class StoredStep: HistoryStep {
  let id: HistoryEntry.ID
  private let bytes: HistoryPair
  private let writer: JournalWriter
  private let made: Lock<(any HistoryStep)?>
  private let doubt: Atomic<Bool>

  init(
    _ id: HistoryEntry.ID, _ pair: HistoryPair, _ writer: JournalWriter,
    made: (any HistoryStep)? = nil
  ) {
    (self.id, self.bytes, self.writer) = (id, pair, writer)
    self.made = Lock(made)
    doubt = Atomic(pair.isInDoubt)
    writer.live.add(pair.size, ordering: .relaxed)
  }

  deinit { writer.live.subtract(bytes.size, ordering: .relaxed) }

  /// The bytes of a journal that is written anew.
  var pair: HistoryPair {
    var pair = bytes
    pair.isInDoubt = isInDoubt
    return pair
  }

  /// Whether it is uncertain if the last execution, undo or redo of the step took effect.
  var isInDoubt: Bool {
    get { doubt.load(ordering: .relaxed) }
    set { doubt.store(newValue, ordering: .relaxed) }
  }

  /// The step that the bytes mean.
  var step: any HistoryStep {
    get throws {
      if let step = made.withLock({ $0 }) { return step }
      do {
        guard let kind = writer.kinds[bytes.name] else {
          throw HistoryJournalError(.unreadable(bytes.name))
        }
        let step = try kind.step(bytes, writer.journal.coder)
        return made.withLock { made in
          // Two may have made it. It is never replaced, so that none goes under the lock.
          if let made { return made }
          made = step
          return step
        }
      } catch {
        throw HistoryJournalError(.unreadable(bytes.name), for: error)
      }
    }
  }

  var standing: HistoryEntry.Standing {
    if (try? step) != nil { return isInDoubt ? .inDoubt : .normal }
    // An execution in doubt has no response, and a title all the same.
    return isInDoubt && readableTitle != nil ? .inDoubt : .unreadable
  }

  var title: String {
    if let step = try? step { return step.title }
    return readableTitle ?? bytes.name
  }

  private var readableTitle: String? {
    try? writer.kinds[bytes.name]?.title(bytes, writer.journal.coder)
  }

  var footprint: HistoryFootprint { (try? step.footprint) ?? .everything }

  func noteObsolete() -> HistoryEntry.ID {
    let place = writer.nextID()
    if writer.hasTransactions { writer.put(.moving(id)) }
    writer.put(.obsolete(id, place: place))
    return place
  }

  func undo(in _: StepScope?) async throws -> (any Error)? {
    let step = try step
    let failure: (any Error)?
    if let database = writer.database {
      let transaction = JournalTransaction(id, writer, in: database) { _ in
        self.writer.put([.moving(self.id), .undone(self.id)])
        return nil
      }
      failure = try await step.undo(in: { try await transaction.run($0) })
    } else {
      failure = try await ahead { try await step.undo(in: nil) }
      writer.put(.undone(id))
    }
    isInDoubt = false
    return failure
  }

  func redo(in _: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?) {
    let step = try step
    guard let database = writer.database else {
      let (redone, failure) = try await ahead { try await step.redo(in: nil) }
      return (self.redone(redone), failure)
    }
    let transaction = JournalTransaction(id, writer, in: database) { redone in
      self.writer.put(.moving(self.id))
      return self.redone(redone)
    }
    let (_, failure) = try await step.redo(in: { try await transaction.run($0) })
    guard let redone = transaction.stored else { preconditionFailure("A redo makes a step.") }
    return (redone, failure)
  }

  /// Tells the journal what it was redone as.
  private func redone(_ step: any HistoryStep) -> StoredStep {
    let (response, isMarked) = (writer.response(of: step), step.footprint != .everything)
    writer.put(.redone(id, response, isMarked: isMarked))
    return StoredStep(id, bytes.answered(response, isMarked: isMarked), writer, made: step)
  }

  /// Runs a body when its intent is written.
  private func ahead<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    do {
      try await writer.writeAhead(.moving(id))
      return try await body()
    } catch {
      if !(error is HistoryObsolete) { writer.put(.failed(id)) }
      throw error
    }
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? StoredStep, let step = try? step, let other = try? later.step
    else { return .separate }
    switch step.merging(other) {
    case .separate: return .separate
    case .merged(let merged):
      guard let pair = writer.pair(of: merged) else { return .separate }
      writer.put(.combined(later.id, pair))
      return .merged(StoredStep(id, pair, writer, made: merged))
    case .annul: return .annul
    }
  }

  var values: (useCase: any Any.Type, request: Any, response: Any) {
    preconditionFailure("A stored step is in its journal.")
  }

  func discard(_ reason: HistoryDiscardReason) -> Bool {
    if let step = try? step { return step.discard(reason) }
    // No version of the app can make a step without a response.
    if bytes.response == nil { return true }
    writer.owe(id, pair, reason)
    return false
  }
}

extension HistoryStep {
  /// The step as it is in a journal.
  var stored: StoredStep {
    guard let step = self as? StoredStep else {
      preconditionFailure("All steps of a history with a journal are stored steps.")
    }
    return step
  }
}

extension HistoryPair {
  /// About the bytes that it takes in a journal.
  fileprivate var size: Int { name.utf8.count + request.count + (response?.count ?? 0) + 16 }
}
