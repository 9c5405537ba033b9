/// A failure that nobody has handled, as ``UseCaseQueue/unhandledFailure`` receives it.
public struct UseCaseUnhandledFailure: Sendable, CustomStringConvertible {
  /// The identity of the operation.
  public let id: UseCaseOperationID

  /// The type of the use case.
  public let type: any Any.Type

  /// The failure.
  public let error: any Error

  /// A sentence for a log, such as "Search #7 failed, and nobody handled it: offline".
  public var description: String { "\(type) \(id) failed, and nobody handled it: \(error)" }
}
