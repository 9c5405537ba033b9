import Foundation

/// The events that the page has not been told of yet.
///
/// Runs are told one by one, a few times a second at the most. Of everything else the page needs
/// the newest state alone. So the log stays small however fast the world is; a page that does not
/// read at all loses its connection.
final class EventLog: @unchecked Sendable {
  /// More than a page that reads leaves behind.
  static let capacity = 20_000

  private static let pace: TimeInterval = 1 / 30

  // Everything below is guarded by the condition.
  private let condition = NSCondition()
  private var runs: [String] = []
  private var states: [(name: String, json: String)] = []
  private var isOver = false
  private var lastTake = Date.distantPast

  /// Adds an event of a run, in JSON.
  func add(_ run: String) {
    condition.withLock {
      if runs.count == Self.capacity { isOver = true }
      if !isOver { runs.append(run) }
      condition.signal()
    }
  }

  /// Replaces a state, which is told before the runs that follow.
  func set(_ name: String, _ json: String) {
    condition.withLock {
      states.removeAll { $0.name == name }
      states.append((name, json))
      condition.signal()
    }
  }

  func close() {
    condition.withLock {
      isOver = true
      condition.signal()
    }
  }

  /// As ``EventFeed/take(until:)``.
  func take(until deadline: Date) -> String? {
    condition.withLock {
      while runs.isEmpty, states.isEmpty, !isOver {
        guard condition.wait(until: deadline) else { break }
      }
      let next = lastTake.addingTimeInterval(Self.pace)
      while !isOver, Date() < next, condition.wait(until: next) {}
      if isOver { return nil }
      lastTake = Date()
      var text = states.map { "event: \($0.name)\ndata: \($0.json)\n\n" }.joined()
      if !runs.isEmpty { text += "event: runs\ndata: [\(runs.joined(separator: ","))]\n\n" }
      states = []
      runs = []
      return text
    }
  }

  /// All runs so far, for a recording.
  func takeRuns() -> [String] {
    condition.withLock {
      defer { runs = [] }
      return runs
    }
  }
}

extension Encodable {
  /// As JSON on one line.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}
