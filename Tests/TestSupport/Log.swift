/// A list of events in order, written and read from any thread.
public final class Log<Element: Sendable>: Sendable {
  private let watched = Watched<[Element]>([])

  /// Creates an empty log.
  public init() {}

  /// The events so far.
  public var elements: [Element] { watched.value }

  /// How much has been written so far.
  public var count: Int { watched.value.count }

  /// Writes one more element.
  public func append(_ element: Element) {
    watched.update { $0.append(element) }
  }

  /// Waits until the log has that many elements, and returns all that it has then.
  @discardableResult
  public func elements(atLeast count: Int) async -> [Element] {
    await watched.wait { $0.count >= count }
    return watched.value
  }
}
