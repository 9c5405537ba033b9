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
  private var readers = 0
  private var isRead = false
  private var isOver = false
  private var lastTake = Date.distantPast

  /// Adds an event of a run, in JSON.
  func add(_ run: String) {
    condition.withLock {
      if runs.count == Self.capacity { isOver = true }
      if !isOver { runs.append(run) }
      condition.broadcast()
    }
  }

  /// Replaces a state, which is told before the runs that follow.
  func set(_ name: String, _ json: String) {
    condition.withLock {
      states.removeAll { $0.name == name }
      states.append((name, json))
      condition.broadcast()
    }
  }

  func close() {
    condition.withLock {
      isOver = true
      condition.broadcast()
    }
  }

  /// Makes room for a reader in place of the last one, and returns its number. Returns nil at the
  /// end of the log.
  func attach() -> Int? {
    condition.withLock {
      if isOver { return nil }
      readers += 1
      isRead = true
      condition.broadcast()
      return readers
    }
  }

  func detach(_ reader: Int) {
    condition.withLock { if reader == readers { isRead = false } }
  }

  var isIdle: Bool { condition.withLock { !isRead } }

  /// As ``EventFeed/take(until:)``, for the last reader alone.
  func take(until deadline: Date, by reader: Int) -> String? {
    condition.withLock {
      var isOver: Bool { self.isOver || reader != readers }
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
