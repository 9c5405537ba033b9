import Synchronization
import UseCaseInternals

/// A step as a journal keeps it: its bytes, and the step that they mean, made when it is needed.
///
/// Its undo and its redo are written ahead. Bytes that nobody can read are kept as they are.
final class StoredStep: HistoryStep {
  let id: HistoryEntry.ID
  let pair: HistoryPair
  private let writer: JournalWriter
  private let made: Lock<(any HistoryStep)?>
  /// Whether nobody knows if it was undone or redone.
  private let isDoubted = Atomic(false)

  init(
    _ id: HistoryEntry.ID, _ pair: HistoryPair, _ writer: JournalWriter,
    made: (any HistoryStep)? = nil
  ) {
    (self.id, self.pair, self.writer) = (id, pair, writer)
    self.made = Lock(made)
    writer.live.add(pair.size, ordering: .relaxed)
  }

  deinit { writer.live.subtract(pair.size, ordering: .relaxed) }

  /// The step that the bytes mean.
  var step: any HistoryStep {
    get throws {
      if let step = made.withLock({ $0 }) { return step }
      do {
        guard let kind = writer.kinds[pair.name] else {
          throw HistoryJournalError(.unreadable(pair.name))
        }
        let step = try kind.step(pair, writer.journal.coder)
        return made.withLock { made in
          // Two may have made it. It is never replaced, so that none goes under the lock.
          if let made { return made }
          made = step
          return step
        }
      } catch {
        throw error is HistoryJournalError
          ? error : HistoryJournalError(.unreadable(pair.name), cause: error)
      }
    }
  }

  var standing: HistoryEntry.Standing {
    if (try? step) != nil { return isInDoubt ? .inDoubt : .normal }
    // An execution in doubt has no response, and a title all the same.
    return isInDoubt && readableTitle != nil ? .inDoubt : .unreadable
  }

  var journaled: HistoryEntry.ID? { id }

  func doubt() { isDoubted.store(true, ordering: .relaxed) }

  /// Whether a journal that is written anew has to say so.
  var isInDoubt: Bool { isDoubted.load(ordering: .relaxed) }

  var title: String {
    if let step = try? step { return step.title }
    return readableTitle ?? pair.name
  }

  private var readableTitle: String? {
    try? writer.kinds[pair.name]?.title(pair, writer.journal.coder)
  }

  var footprint: HistoryFootprint { (try? step.footprint) ?? .everything }

  func wasObsolete(_ place: HistoryEntry.ID) { writer.put(.obsolete(id, place: place)) }

  func undo() async throws {
    let step = try step
    do {
      try await writer.begin(.undoing(id))
      try await step.undo()
    } catch {
      if !(error is HistoryObsolete) { writer.put(.failed(id)) }
      throw error
    }
    writer.put(.undone(id))
    isDoubted.store(false, ordering: .relaxed)
  }

  func redo() async throws -> any HistoryStep {
    let step = try step
    let redone: any HistoryStep
    do {
      try await writer.begin(.redoing(id))
      redone = try await step.redo()
    } catch {
      if !(error is HistoryObsolete) { writer.put(.failed(id)) }
      throw error
    }
    let response = writer.response(of: redone, named: pair.name)
    let pair = pair.answered(response, touching: redone.footprint)
    writer.put(.redone(id, response, isMarked: pair.isMarked))
    return StoredStep(id, pair, writer, made: redone)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? StoredStep, let step = try? step, let other = try? later.step
    else { return .separate }
    switch step.merging(other) {
    case .separate: return .separate
    case .merged(let merged):
      guard let pair = writer.pair(of: merged, named: pair.name) else { return .separate }
      writer.put(.combined(later.id, pair))
      return .merged(StoredStep(id, pair, writer, made: merged))
    case .annul: return .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) {
    guard let step = try? step else { return writer.owe(id, pair, reason) }
    step.discard(reason)
  }
}

extension HistoryPair {
  /// About the bytes that it takes in a journal.
  fileprivate var size: Int { name.utf8.count + request.count + (response?.count ?? 0) + 16 }
}
