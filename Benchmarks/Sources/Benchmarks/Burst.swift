import Dispatch
import Foundation
import UseCase

extension Scenario {
  /// Many at once, each with one handler.
  static let burst = Scenario(
    name: "burst: execute + then",
    contestants: [
      Contestant("bare Task { }", count: 20_000) { count, client in
        for number in 0..<count { Task { client.take(twice(number)) } }
      },
      Contestant("UseCase", .atMost(1.25, of: "bare Task { }"), count: 20_000) { count, client in
        let useCase = Twice()
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      },
      Contestant("DispatchQueue.async", count: 20_000) { count, client in
        let queue = DispatchQueue.global()
        for number in 0..<count { queue.async { client.take(twice(number)) } }
      },
      Contestant("OperationQueue", .atLeast(2, of: "UseCase"), count: 20_000) { count, client in
        let queue = OperationQueue()
        for number in 0..<count { queue.addBlock(number) { client.take($0) } }
      },
      Contestant("2017 design", .atLeast(2.5, of: "UseCase"), count: 20_000) { count, client in
        let queue = OperationQueue()
        let delivery = DispatchQueue(label: "delivery")
        for number in 0..<count {
          let operation = CallbackOperation(number, delivery: delivery, body: twice)
          queue.addOperation(operation.then { client.take($0) })
        }
      },
    ])
}

extension OperationQueue {
  func addBlock(_ number: Int, completion: @escaping @Sendable (Int) -> Void) {
    // Written before the completion block begins, which reads it.
    nonisolated(unsafe) var value = 0
    let operation = BlockOperation { value = twice(number) }
    operation.completionBlock = { completion(value) }
    addOperation(operation)
  }
}
