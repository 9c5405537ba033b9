import Dispatch
import Foundation

/// An operation as they were written in 2017: handlers in arrays behind a queue of its own, and
/// delivered to another queue.
final class CallbackOperation<Request: Sendable, Response: Sendable>: Operation,
  @unchecked Sendable {
  private let request: Request
  private let body: (Request) throws -> Response
  private let delivery: DispatchQueue

  // Touched on `access` only.
  private let access = DispatchQueue(label: "callbacks")
  private var thens: [@Sendable (Response) -> Void] = []
  private var catches: [@Sendable (any Error) -> Void] = []
  private var result: Swift.Result<Response, any Error>?

  init(
    _ request: Request, delivery: DispatchQueue, body: @escaping (Request) throws -> Response
  ) {
    self.request = request
    self.delivery = delivery
    self.body = body
  }

  @discardableResult
  func then(_ handler: @escaping @Sendable (Response) -> Void) -> Self {
    access.sync {
      if case .success(let response)? = result {
        delivery.async { handler(response) }
      } else {
        thens.append(handler)
      }
    }
    return self
  }

  @discardableResult
  func `catch`(_ handler: @escaping @Sendable (any Error) -> Void) -> Self {
    access.sync {
      if case .failure(let error)? = result {
        delivery.async { handler(error) }
      } else {
        catches.append(handler)
      }
    }
    return self
  }

  override func main() {
    let result = Swift.Result { try body(request) }
    access.sync {
      self.result = result
      switch result {
      case .success(let response):
        for handler in thens { delivery.async { handler(response) } }
      case .failure(let error):
        for handler in catches { delivery.async { handler(error) } }
      }
      thens = []
      catches = []
    }
  }
}
