/// The failure of an operation whose body took longer than its use case's time-out.
public struct UseCaseTimeout: Error, Hashable, CustomStringConvertible {
  /// The time-out that passed, on the queue's clock.
  public let duration: Duration

  /// Creates the error, for a fake in a test.
  ///
  /// - Parameter duration: The time-out that passed.
  public init(duration: Duration) {
    self.duration = duration
  }

  /// A sentence for a log.
  public var description: String { "The use case took longer than its time-out of \(duration)." }
}
