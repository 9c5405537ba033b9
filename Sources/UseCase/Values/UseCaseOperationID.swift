import Synchronization

/// The identity of an operation: unique in the process, and higher for each later `execute`.
public struct UseCaseOperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  private static let last = Atomic<UInt64>(0)

  package let number: UInt64

  package init(number: UInt64) {
    self.number = number
  }

  /// Returns an identity that is higher than every earlier one.
  package static func next() -> Self {
    Self(number: last.add(1, ordering: .relaxed).newValue)
  }

  /// Returns whether the first operation was executed before the second.
  ///
  /// - Parameters:
  ///   - lhs: The identity of the first operation.
  ///   - rhs: The identity of the second operation.
  /// - Returns: Whether the first operation is the older one.
  public static func < (lhs: UseCaseOperationID, rhs: UseCaseOperationID) -> Bool {
    lhs.number < rhs.number
  }

  /// The number of the operation, such as `#7`.
  public var description: String { "#\(number)" }
}
