import Foundation
import UseCaseHistory

/// A journal file, open for this process alone.
///
/// The value has a descriptor and the end of the file. Only one call of ``FileJournal`` at a time
/// has it. Each method calls the system and returns when the system has answered.
struct JournalFile: Sendable {
  private let path: JournalPath
  private var descriptor: Int32
  /// Where the next frame goes. Nil until the file has been read.
  private var end: Int?
  /// Whether bytes of an append that failed may stand behind the end.
  private var hasRest = false

  /// Opens the file, or creates it, and locks it. The lock is one of the open file: it goes with
  /// the process, however that ends.
  init(opening path: JournalPath) throws {
    self.path = path
    descriptor = -1
    while true {
      guard let found = try Self.existing(path) else {
        try Self.create(path)
        continue
      }
      descriptor = found
      do {
        // The process that had the lock before may have put another file there.
        if try lock(), try isThere() { break }
      } catch {
        release()
        throw error
      }
      release()
    }
    do {
      // A file of another format is refused at once, as it is.
      try checkStart()
      guard fchmod(descriptor, 0o600) == 0 else { throw error(.cannotWrite) }
    } catch {
      release()
      throw error
    }
    for file in path.leftBehind { Self.removeLeftBehind(file) }
  }

  /// A file without records, which a process writes anew.
  private init(writing path: JournalPath, at temporary: String) throws {
    self.path = path
    descriptor = open(
      temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw error(.cannotWrite) }
  }

  func release() {
    // A child that was forked and has not begun its program yet has the descriptor too.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private func error(_ reason: HistoryJournalError.Reason) -> HistoryJournalError {
    HistoryJournalError(reason, journal: path.file, cause: POSIXError.current)
  }
}

// MARK: - Opening

extension JournalFile {
  /// Returns a descriptor of the file at the path, nil if there is none. Nothing else than a file
  /// is touched: to open a device may have an effect.
  private static func existing(_ path: JournalPath) throws -> Int32? {
    func noFile() throws -> Int32? {
      if errno == ENOENT { return nil }
      throw HistoryJournalError(.cannotRead, journal: path.file, cause: POSIXError.current)
    }
    var status = stat()
    guard lstat(path.file, &status) == 0 else { return try noFile() }
    guard isFile(status) else { throw HistoryJournalError(.foreign, journal: path.file) }
    let descriptor = open(
      path.file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return try noFile() }
    guard fstat(descriptor, &status) == 0, isFile(status) else {
      close(descriptor)
      throw HistoryJournalError(.foreign, journal: path.file)
    }
    return descriptor
  }

  private static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

  /// Makes an empty journal. It gets its name when it is whole, and takes nobody's place.
  private static func create(_ path: JournalPath) throws {
    let temporary = path.unguessable()
    var new = try Self(writing: path, at: temporary)
    defer {
      unlink(temporary)
      new.release()
    }
    try new.fill(with: [])
    if link(temporary, path.file) != 0 {
      // Another process was first, or has tidied up.
      if errno == EEXIST || errno == ENOENT { return }
      // Not every file system has more than one name for a file.
      var status = stat()
      if lstat(path.file, &status) == 0 { return }
      guard rename(temporary, path.file) == 0 else { throw new.error(.cannotWrite) }
    }
    try new.syncFolder()
  }

  private func lock() throws -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    throw errno == EWOULDBLOCK
      ? HistoryJournalError(.inUse, journal: path.file) : error(.cannotRead)
  }

  /// Returns whether this is the file at the path.
  private func isThere() throws -> Bool {
    var (mine, there) = (stat(), stat())
    guard fstat(descriptor, &mine) == 0 else { throw error(.cannotRead) }
    return lstat(path.file, &there) == 0 && mine.st_ino == there.st_ino
      && mine.st_dev == there.st_dev
  }

  private func checkStart() throws {
    let start = try bytes(upTo: JournalFormat.headerSize)
    switch JournalFormat.start(of: start, size: try size()) {
    case .whole: break
    case .damaged(let offset):
      throw HistoryJournalError(.damaged(offset: offset), journal: path.file)
    case .foreign: throw HistoryJournalError(.foreign, journal: path.file)
    }
  }

  /// Removes a new file that never came into its place. It is one if it is mine alone, begins as a
  /// journal, and no process is writing it.
  private static func removeLeftBehind(_ file: String) {
    let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, isFile(status), status.st_nlink == 1,
      status.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    var start = [UInt8](repeating: 0, count: JournalFormat.headerSize)
    let count = pread(descriptor, &start, start.count, 0)
    guard count >= 0 else { return }
    start.removeLast(start.count - count)
    if JournalFormat.start(of: start, size: count) != .foreign { unlink(file) }
  }
}

// MARK: - Reading

extension JournalFile {
  /// Returns the records, and cuts off a torn one at the end.
  mutating func read() throws -> [[UInt8]] {
    let file = try bytes(upTo: .max)
    switch JournalFormat.content(of: file) {
    case .records(let records, let end):
      if end < file.count { try cut(to: end) }
      self.end = end
      return records.map { Array(file[$0]) }
    case .damaged(let offset):
      throw HistoryJournalError(.damaged(offset: offset), journal: path.file)
    case .foreign: throw HistoryJournalError(.foreign, journal: path.file)
    }
  }

  private func size() throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error(.cannotRead) }
    guard let size = Int(exactly: status.st_size) else {
      throw HistoryJournalError(.cannotRead, journal: path.file, cause: POSIXError(.EFBIG))
    }
    return size
  }

  private func bytes(upTo limit: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(try size(), limit))
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
  /// Adds a record. If it fails, the next append removes what may have been written.
  mutating func append(_ record: [UInt8], isSynced: Bool) throws {
    if end == nil { _ = try read() }
    guard let end, record.count <= JournalFormat.longest else {
      throw HistoryJournalError(.cannotWrite, journal: path.file, cause: POSIXError(.EFBIG))
    }
    if hasRest { try cut(to: end) }
    let frame = JournalFormat.frame(record)
    do {
      try write(frame, at: end)
      if isSynced { try sync() }
      self.end = end + frame.count
    } catch {
      hasRest = true
      throw error
    }
  }

  /// Writes another file beside this one, and puts it in its place.
  mutating func replace(with records: [[UInt8]]) throws {
    // A damaged file is left as it is.
    if end == nil { _ = try read() }
    guard try isThere() else { throw moved }
    let temporary = path.unguessable()
    var new = try Self(writing: path, at: temporary)
    do {
      try new.fill(with: records)
      guard try isThere() else { throw moved }
      guard rename(temporary, path.file) == 0 else { throw error(.cannotWrite) }
    } catch {
      unlink(temporary)
      new.release()
      throw error
    }
    release()
    self = new
    try syncFolder()
  }

  /// Another journal may have the place of one that was moved away, or its folder is gone.
  private var moved: HistoryJournalError { HistoryJournalError(.moved, journal: path.file) }

  /// Fills a new file, and syncs it.
  private mutating func fill(with records: [[UInt8]]) throws {
    guard let size = JournalFormat.size(of: records) else {
      throw HistoryJournalError(.cannotWrite, journal: path.file, cause: POSIXError(.EFBIG))
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fchmod(descriptor, 0o600) == 0
    else { throw error(.cannotWrite) }
    var (offset, chunk) = (0, JournalFormat.header(whole: size))
    for record in records {
      chunk += JournalFormat.frame(record)
      guard chunk.count > 1 << 20 else { continue }
      try write(chunk, at: offset)
      offset += chunk.count
      chunk.removeAll(keepingCapacity: true)
    }
    try write(chunk, at: offset)
    try sync()
    end = offset + chunk.count
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
    let descriptor = open(path.folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error(.cannotWrite) }
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
