import Dispatch
import Foundation

/// An operation as they were written in 2017: handlers in arrays behind a queue of its own, which
/// are delivered to another queue.
final class CallbackOperation<Request: Sendable, Response: Sendable>: Operation,
  @unchecked Sendable
{
  private let request: Request
  private let body: @Sendable (Request) throws -> Response
  private let delivery: DispatchQueue

  // The rest is touched on this queue only.
  private let access = DispatchQueue(label: "handlers")
  private var thens: [@Sendable (Response) -> Void] = []
  private var catches: [@Sendable (any Error) -> Void] = []
  private var result: Result<Response, any Error>?

  init(
    _ request: Request, delivery: DispatchQueue,
    body: @escaping @Sendable (Request) throws -> Response
  ) {
    self.request = request
    self.delivery = delivery
    self.body = body
  }

  @discardableResult
  func then(_ handler: @escaping @Sendable (Response) -> Void) -> Self {
    access.sync {
      thens.append(handler)
      deliver()
    }
    return self
  }

  @discardableResult
  func `catch`(_ handler: @escaping @Sendable (any Error) -> Void) -> Self {
    access.sync {
      catches.append(handler)
      deliver()
    }
    return self
  }

  override func main() {
    let result = Result { try body(request) }
    access.sync {
      self.result = result
      deliver()
    }
  }

  private func deliver() {
    switch result {
    case nil: return
    case .success(let response)?:
      for handler in thens { delivery.async { handler(response) } }
    case .failure(let error)?:
      for handler in catches { delivery.async { handler(error) } }
    }
    thens = []
    catches = []
  }
}
