/// Counts the objects that are still alive: the proof that nothing is left.
///
/// ```swift
/// let lifetime = Lifetime()
/// operation.then { [token = lifetime.track()] _ in _ = token }
/// await operation.ended()
/// #expect(lifetime.alive == 0)
/// ```
public final class Lifetime: Sendable {
  /// An object to be captured by, or stored in, what should go away.
  public final class Token: Sendable {
    private let alive: Watched<Int>
    private let onRelease: @Sendable () -> Void

    fileprivate init(_ alive: Watched<Int>, onRelease: @escaping @Sendable () -> Void) {
      self.alive = alive
      self.onRelease = onRelease
      alive.update { $0 += 1 }
    }

    deinit {
      onRelease()
      alive.update { $0 -= 1 }
    }
  }

  private let counted = Watched(0)

  /// Creates a tracker of nothing.
  public init() {}

  /// How many tokens are alive.
  public var alive: Int { counted.value }

  /// Makes a token.
  ///
  /// - Parameter onRelease: Runs in the `deinit` of the token, wherever that is.
  /// - Returns: The token, alive until its last owner lets it go.
  public func track(onRelease: @escaping @Sendable () -> Void = {}) -> Token {
    Token(counted, onRelease: onRelease)
  }

  /// Returns once no token is alive.
  public func over() async {
    await alive(atMost: 0)
  }

  /// Returns once no more tokens than that are alive.
  public func alive(atMost count: Int) async {
    await counted.wait { $0 <= count }
  }
}
