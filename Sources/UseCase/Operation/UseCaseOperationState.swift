/// How far an operation has come.
public enum UseCaseOperationState: Hashable, Sendable {
  /// It waits for a slot of its queue.
  case waiting

  /// It holds a slot and has no outcome yet.
  case running

  /// It has an outcome. Its body may still be unwinding.
  case finished
}

/// The identity of an operation: unique in the process, and higher for each later `execute`.
public struct UseCaseOperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: UInt64

  package init(number: UInt64) {
    self.number = number
  }

  /// Draws the next number, for something that is asked for like an operation and is none.
  package static func next() -> Self { Self(number: UseCaseQueue.nextID()) }

  /// Returns whether the first was executed before the second.
  ///
  /// - Parameters:
  ///   - lhs: The identity of an operation.
  ///   - rhs: The identity of another.
  /// - Returns: Whether `lhs` is the older one.
  /// - Complexity: O(1).
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }

  /// The number of the operation, such as `#7`.
  ///
  /// - Complexity: O(1).
  public var description: String { "#\(number)" }
}
