import TestSupport
import UseCase
import UseCaseHistory

/// An operation of a random session, whatever its types.
protocol AnyRandomOperation {
  func cancel()
  func ended(_ keys: [HistoryEntry.ID: Int]) async -> String
  var isOver: Bool { get }
}

struct RandomOperation<Request: Sendable, Response: Sendable>: AnyRandomOperation {
  let operation: UseCaseOperation<Request, Response>
  let answer: (Response) -> String

  init(_ operation: UseCaseOperation<Request, Response>, answer: @escaping (Response) -> String) {
    self.operation = operation
    self.answer = answer
  }

  func cancel() { operation.cancel() }

  var isOver: Bool { operation.state == .finished }

  func ended(_ keys: [HistoryEntry.ID: Int]) async -> String {
    switch await operation.ended() {
    case .success(let response): answer(response)
    case .cancelled: "cancelled"
    case .failure(let error): words(for: error, keys)
    }
  }

  private func words(for error: any Error, _ keys: [HistoryEntry.ID: Int]) -> String {
    switch error {
    case let failure as Failure: "failed \(failure.action)"
    case is CancellationError: "cancelled"
    case let group as HistoryGroupError: "group, \(words(for: group.cause, keys))"
    case let obsolete as HistoryObsolete:
      "obsolete \((obsolete.cause as? Failure)?.action ?? "")"
    case HistoryError.unknownEntry: "unknown"
    case HistoryError.blocked(let entries): "blocked \(entries.map { keys[$0] ?? 0 })"
    case HistoryError.outOfTurn: "outOfTurn"
    case HistoryError.reentrant: "reentrant"
    default: "\(error)"
    }
  }
}
