/// The failure of an operation whose body took longer than its use case's timeout.
///
/// ```swift
/// download.execute(url)
///   .catch(UseCaseTimeout.self) { error in
///     print(error)  // It took longer than 5 seconds.
///   }
/// ```
public struct UseCaseTimeout: Error, Hashable, CustomStringConvertible {
  /// The timeout of a use case whose bodies may take as long as they like.
  @inlinable public static var never: Duration { .seconds(Int64.max) }

  /// The timeout that passed, on the queue's clock.
  public let duration: Duration

  /// Creates the error, for a fake in a test.
  ///
  /// - Parameter duration: The timeout that passed.
  public init(duration: Duration) {
    self.duration = duration
  }

  /// Whether a body has to return within this time.
  @inlinable
  package static func limits(_ duration: Duration) -> Bool {
    // Unlike a comparison of durations, that of their attoseconds is inlined.
    duration.attoseconds < never.attoseconds
  }

  /// A sentence for a user, such as "It took longer than 5 seconds."
  public var description: String {
    // A timeout below zero is shown as zero.
    let (seconds, attoseconds) = max(duration, .zero).components
    let nanoseconds = String(attoseconds / 1_000_000_000)
    var digits = String(repeating: "0", count: 9 - nanoseconds.count) + nanoseconds
    while digits.last == "0" { digits.removeLast() }
    let number = digits.isEmpty ? "\(seconds)" : "\(seconds).\(digits)"
    return "It took longer than \(number) \(number == "1" ? "second" : "seconds")."
  }
}

/// The error of a body that awaits an operation which can't start until that body returns.
///
/// The body holds the only slot of a queue, and the operation waits for that slot, so neither would
/// ever end. Use the call form, `try await useCase(request)`, which runs inside the slot of the
/// body. A wait for one of several slots isn't detected. A body that awaits its own operation gets
/// this error on any queue.
///
/// A `Task { }` that the body starts counts as a part of the body, even if the body doesn't wait
/// for it. To await the operation outside of the body, use `Task.detached`.
public struct UseCaseDeadlock: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for a fake in a test.
  public init() {}

  /// A sentence for a log.
  public var description: String {
    "A body awaits an operation that cannot end before the body returns. Use the call form, "
      + "`try await useCase(request)`, which runs inside the slot of the body."
  }
}
