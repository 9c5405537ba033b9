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
  let number: UInt64

  /// Whether `lhs` was executed before `rhs`.
  ///
  /// - Complexity: O(1).
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }

  /// The number of the operation, such as `#7`.
  public var description: String { "#\(number)" }
}
