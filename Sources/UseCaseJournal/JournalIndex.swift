import Foundation
import UseCaseHistory

/// The index of a journal's file, without the bytes of the rows: the version, the end, and how
/// much of it is live.
struct JournalIndex {
  private(set) var version: Int64 = 0
  /// Where the next change goes, 0 if the file was not read.
  private(set) var end: Int64 = 0
  private var lengths: [Int64: UInt32] = [:]
  /// How long the rows are, written once.
  private var live: Int64 = 0
  /// As long as the file is not longer, it is not written anew.
  private var patience = Self.shortest

  /// A file that is not longer than this is never written anew: a few undos would make it due.
  private static let shortest: Int64 = 1 << 16

  /// The index of a file that was not read.
  init() {}

  init(_ rows: HistoryRows, end: Int64) {
    version = rows.version
    self.end = end
    lengths = rows.rows.mapValues { UInt32($0.count) }
    live = lengths.values.reduce(0) { $0 + Self.size($1) }
  }

  private static func size(_ length: UInt32) -> Int64 {
    Int64(JournalFormat.rowHeaderSize) + Int64(length)
  }

  /// Returns the bytes that make the change.
  ///
  /// - Throws: A `HistoryJournalError`, `.stale` if the change was made for another version.
  func bytes(of change: HistoryChange, journal: String) throws -> [UInt8] {
    guard change.version == version else { throw HistoryJournalError(.stale, journal: journal) }
    let (next, isTooHigh) = version.addingReportingOverflow(1)
    guard !isTooHigh, change.rows.allSatisfy({ $0.bytes?.count ?? 0 <= JournalFormat.longestRow })
    else { throw HistoryJournalError(.cannotWrite, journal: journal, cause: POSIXError(.EFBIG)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      change.rows.reduce(0) { $0 + JournalFormat.rowHeaderSize + ($1.bytes?.count ?? 0) })
    for (index, row) in change.rows.enumerated() {
      let isLast = index == change.rows.count - 1
      JournalFormat.append((row.key, row.bytes), version: next, isLast: isLast, to: &bytes)
    }
    if bytes.isEmpty { JournalFormat.append(nil, version: next, isLast: true, to: &bytes) }
    return bytes
  }

  /// The change was written, in so many bytes.
  mutating func add(_ change: HistoryChange, count: Int) {
    version += 1
    end += Int64(count)
    for row in change.rows {
      let length = row.bytes.map { UInt32($0.count) }
      let former = lengths[row.key]
      lengths[row.key] = length
      live += (length.map(Self.size) ?? 0) - (former.map(Self.size) ?? 0)
    }
  }

  /// Whether the file has more than twice the bytes of its rows.
  var isDue: Bool { end > max(2 * live, patience) }

  /// It could not be written anew. The next try is made when it is twice as long.
  mutating func postpone() { patience = 2 * end }

  /// The file was written anew, and ends here.
  mutating func moveEnd(to end: Int64) {
    self.end = end
    patience = Self.shortest
  }
}
