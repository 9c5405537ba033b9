import Foundation
import UseCaseHistory

/// A journal file, open for this process alone.
///
/// The value has a descriptor and the end of the file. ``FileJournal`` keeps it behind a lock. Each
/// method calls the system and returns when the system has answered.
struct JournalFile: Sendable {
  private let path: String
  private var descriptor: Int32
  /// Where the next frame goes. Nil until the file has been read.
  private var end: Int?
  /// Whether bytes of an append that failed may stand behind the end.
  private var hasRest = false

  /// Opens the file, or creates it, and locks it. The lock is one of the open file: it goes with
  /// the process, however that ends.
  init(opening path: String) throws {
    self.path = path
    descriptor = try Self.descriptor(of: path, O_RDWR | O_CREAT)
    do {
      while try !lock() {
        let next = try Self.descriptor(of: path, O_RDWR | O_CREAT)
        close(descriptor)
        descriptor = next
      }
      // A file of another format is refused at once, as it is.
      _ = try content(of: bytes(upTo: JournalFormat.header.count))
      guard fchmod(descriptor, 0o600) == 0 else { throw error(.cannotWrite) }
    } catch {
      release()
      throw error
    }
  }

  func release() {
    // A child that was forked and has not begun its program yet has the descriptor too.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func descriptor(
    of path: String, _ flags: Int32
  ) throws -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw HistoryJournalError(.cannotRead, journal: path, cause: systemError)
    }
    return descriptor
  }

  /// Returns whether this is the file at the path. The process that had the lock before may have
  /// put another file there.
  private func lock() throws -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK ? HistoryJournalError(.inUse, journal: path) : error(.cannotRead)
    }
    var (mine, there) = (stat(), stat())
    guard fstat(descriptor, &mine) == 0 else { throw error(.cannotRead) }
    return stat(path, &there) == 0 && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
  }

  private func error(_ reason: HistoryJournalError.Reason) -> HistoryJournalError {
    HistoryJournalError(reason, journal: path, cause: Self.systemError)
  }

  private static var systemError: POSIXError {
    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
  }
}

// MARK: - Reading

extension JournalFile {
  /// Returns the records, and cuts off a torn one at the end.
  mutating func read() throws -> [[UInt8]] {
    let file = try bytes(upTo: .max)
    guard let (records, end) = try content(of: file) else {
      try begin()
      return []
    }
    if end < file.count { try cut(to: end) }
    self.end = end
    return records.map { Array(file[$0]) }
  }

  /// Returns the records and where they end, nil if nothing was ever appended.
  private func content(of file: [UInt8]) throws -> (records: [Range<Int>], end: Int)? {
    switch JournalFormat.content(of: file) {
    case .records(let records, let end): return (records, end)
    case .nothing: return nil
    case .damaged(let offset): throw HistoryJournalError(.damaged(offset: offset), journal: path)
    case .foreign: throw HistoryJournalError(.foreign, journal: path)
    }
  }

  private mutating func begin() throws {
    try write(JournalFormat.header, at: 0)
    try sync()
    try syncFolder()
    end = JournalFormat.header.count
  }

  private func bytes(upTo limit: Int) throws -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error(.cannotRead) }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), limit))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(filled))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw error(.cannotRead) }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }
}

// MARK: - Writing

extension JournalFile {
  /// Adds a record, or leaves the file as it is.
  mutating func append(_ record: [UInt8], isSynced: Bool) throws {
    if end == nil { _ = try read() }
    guard let end, record.count <= JournalFormat.longest else {
      throw HistoryJournalError(.cannotWrite, journal: path, cause: POSIXError(.EFBIG))
    }
    if hasRest { try cut(to: end) }
    let frame = JournalFormat.frame(record)
    do {
      try write(frame, at: end)
      if isSynced { try sync() }
      self.end = end + frame.count
    } catch {
      hasRest = true
      try? cut(to: end)
      throw error
    }
  }

  /// Writes another file beside this one, and puts it in its place.
  mutating func replace(with records: [[UInt8]]) throws {
    // A damaged file is left as it is.
    if end == nil { _ = try read() }
    let beside = path + ".new"
    var new = self
    new.descriptor = try Self.descriptor(of: beside, O_RDWR | O_CREAT | O_TRUNC)
    do {
      guard flock(new.descriptor, LOCK_EX | LOCK_NB) == 0, fchmod(new.descriptor, 0o600) == 0
      else { throw error(.cannotWrite) }
      try new.fill(with: records)
      try new.sync()
      guard rename(beside, path) == 0 else { throw error(.cannotWrite) }
    } catch {
      new.release()
      unlink(beside)
      throw error
    }
    release()
    self = new
    try syncFolder()
  }

  private mutating func fill(with records: [[UInt8]]) throws {
    var (offset, chunk) = (0, JournalFormat.header)
    for record in records {
      guard record.count <= JournalFormat.longest else {
        throw HistoryJournalError(.cannotWrite, journal: path, cause: POSIXError(.EFBIG))
      }
      chunk += JournalFormat.frame(record)
      guard chunk.count > 1 << 20 else { continue }
      try write(chunk, at: offset)
      offset += chunk.count
      chunk.removeAll(keepingCapacity: true)
    }
    chunk += JournalFormat.seal
    try write(chunk, at: offset)
    (end, hasRest) = (offset + chunk.count, false)
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written,
          off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw error(.cannotWrite) }
      written += count
    }
  }

  private mutating func cut(to end: Int) throws {
    guard ftruncate(descriptor, off_t(end)) == 0 else { throw error(.cannotWrite) }
    hasRest = false
  }

  private func sync() throws {
    guard Self.sync(descriptor) else { throw error(.cannotWrite) }
  }

  /// A new name in a folder survives the loss of power when the folder is synced, too.
  private func syncFolder() throws {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let descriptor = try Self.descriptor(of: folder, O_RDONLY)
    defer { close(descriptor) }
    guard Self.sync(descriptor) else { throw error(.cannotWrite) }
  }

  private static func sync(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      // `fsync` leaves the bytes in the cache of the drive there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }
}
