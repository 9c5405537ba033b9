import UseCaseHistory

/// A journal file and what is known of it. One call at a time has it.
struct OpenJournal: Sendable {
  private var file: JournalFile
  private var index = JournalIndex()
  /// How long the file is, nil if a write has failed and may have left something.
  private var size: Int64?
  private var isClosed = false
  /// How often the file was read: each time, its end may be another.
  private var reads = 0
  /// Whether the name of the file survives the loss of power.
  private var isFolderSynced = false
  /// Whether the file is being written anew.
  private var isBeingReplaced = false

  init(_ file: JournalFile) { self.file = file }

  private func check() throws {
    if isClosed { throw file.path.error(.closed, nil) }
  }

  mutating func close() {
    if !isClosed { file.release() }
    isClosed = true
  }

  var isRead: Bool { index.end > 0 }

  mutating func read() throws -> HistoryRows {
    try check()
    let size = try file.size()
    let (rows, end) = try file.read(upTo: size)
    (index, self.size) = (JournalIndex(rows, end: end), size)
    reads += 1
    return rows
  }

  /// Makes the change. Returns whether the file is to be written anew.
  mutating func write(_ change: HistoryChange, isSynced: Bool) throws -> Bool {
    try check()
    if !isRead { _ = try read() }
    let bytes = try index.bytes(of: change, journal: file.path.file)
    let found = try file.check(end: index.end, size: size)
    if isSynced, !isFolderSynced {
      try file.path.syncFolder()
      isFolderSynced = true
    }
    size = nil
    try file.append(bytes, at: index.end, size: found, isSynced: isSynced)
    index.add(change, count: bytes.count)
    size = index.end
    guard index.isDue, !isBeingReplaced else { return false }
    isBeingReplaced = true
    return true
  }
}

// MARK: - Writing anew

extension OpenJournal {
  /// The file as it was at one moment, open a second time.
  struct Copy: Sendable {
    let file: JournalFile
    let end: Int64
    fileprivate let reads: Int
  }

  func copy() throws -> Copy {
    try check()
    return Copy(file: try file.copy(), end: index.end, reads: reads)
  }

  var end: Int64 { index.end }

  /// Puts a new file in the place of the one that it was made of.
  mutating func replace(_ copy: Copy, with new: inout NewJournalFile, isSynced: Bool) throws {
    try check()
    guard reads == copy.reads else { throw file.path.error(.stale, nil) }
    try new.catchUp(with: copy.file, upTo: index.end)
    if isSynced { try new.file.sync() }
    try file.check(end: index.end, size: size)
    try new.takePlace()
    file.closeCopy()
    file = new.file
    index.moveEnd(to: new.end)
    size = new.end
    isFolderSynced = false
  }

  /// The file was replaced, or if not, stays for a while.
  mutating func endReplacing(isDone: Bool) {
    isBeingReplaced = false
    isFolderSynced = isFolderSynced || isDone
    if !isDone { index.postpone() }
  }
}
