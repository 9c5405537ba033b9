import Synchronization

/// Those who wait for the next change of a history.
struct HistoryReaders<Waiter: Sendable>: Sendable {
  private var waiting: [(reader: ObjectIdentifier, waiter: Waiter)] = []
  /// The version that they have: all wait for the next one.
  private var version: UInt64 = 0
  private(set) var isFinished = false

  /// Keeps the waiter until there is a version from `next` on, or returns it.
  mutating func wait(
    _ waiter: Waiter, _ reader: ObjectIdentifier, for next: UInt64, at version: UInt64
  ) -> Waiter? {
    if version >= next || isFinished { return waiter }
    waiting.append((reader, waiter))
    self.version = version
    return nil
  }

  /// Returns those who have waited for this version, nil if there are none.
  mutating func wake(for version: UInt64) -> [Waiter]? {
    waiting.isEmpty || version == self.version ? nil : takeAll()
  }

  /// Returns those of a reader that waits no longer.
  mutating func cancel(_ reader: ObjectIdentifier) -> [Waiter] {
    defer { waiting.removeAll { $0.reader == reader } }
    return waiting.filter { $0.reader == reader }.map(\.waiter)
  }

  /// There will be no other version.
  mutating func finish() -> [Waiter] {
    isFinished = true
    return takeAll()
  }

  private mutating func takeAll() -> [Waiter] {
    defer { waiting = [] }
    return waiting.map(\.waiter)
  }
}

/// Reads the states of a history, one after the other, for one stream.
final class HistoryReader: Sendable {
  private let ledger: HistoryLedger
  private let version = Atomic<UInt64>(0)
  private let cancellation = Atomic(false)

  init(_ ledger: HistoryLedger) {
    self.ledger = ledger
  }

  var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

  /// Returns the present state as soon as it is newer than the last one read.
  func next() async -> HistoryState? {
    let version = version.load(ordering: .relaxed)
    await withUnsafeContinuation { ledger.wait($0, self, for: version) }
    guard !isCancelled, !ledger.isFinished else { return nil }
    let state = ledger.state
    self.version.store(state.version + 1, ordering: .relaxed)
    return state
  }

  func cancel() {
    cancellation.store(true, ordering: .releasing)
    ledger.cancel(self)
  }
}
