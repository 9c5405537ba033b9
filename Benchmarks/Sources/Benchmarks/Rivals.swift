import Dispatch
import Foundation

// Queues of Foundation, as one uses them for the same work.

extension OperationQueue {
  convenience init(limit: Int) {
    self.init()
    maxConcurrentOperationCount = limit
  }

  @discardableResult
  func addBlock(
    _ number: Int, priority: Operation.QueuePriority = .normal,
    body: @escaping @Sendable (Int) -> Int = twice,
    completion: @escaping @Sendable (Int) -> Void
  ) -> Operation {
    // Written before the completion block begins, which reads it.
    nonisolated(unsafe) var value = 0
    let operation = BlockOperation { value = body(number) }
    operation.completionBlock = { completion(value) }
    if priority != .normal { operation.queuePriority = priority }
    addOperation(operation)
    return operation
  }

  @discardableResult
  func addCallback(
    _ number: Int, delivery: DispatchQueue, then: @escaping @Sendable (Int) -> Void
  ) -> Operation {
    let operation = CallbackOperation(number, delivery: delivery, body: twice).then(then)
    addOperation(operation)
    return operation
  }
}

extension Contestant {
  /// `BlockOperation`s with a completion block, of which so many run at a time.
  static func blocks(limit: Int, count: Int) -> Self {
    Contestant("OperationQueue", .atLeast(2, of: "UseCase"), count: count) { count, client in
      let queue = OperationQueue(limit: limit)
      for number in 0..<count { queue.addBlock(number) { client.take($0) } }
    }
  }

  /// The design of 2017.
  static func callbacks(limit: Int, count: Int) -> Self {
    Contestant("2017 design", .atLeast(2.5, of: "UseCase"), count: count) { count, client in
      let queue = OperationQueue(limit: limit)
      let delivery = DispatchQueue(label: "delivery")
      for number in 0..<count { queue.addCallback(number, delivery: delivery) { client.take($0) } }
    }
  }
}
