import Foundation
import UseCaseHistory

/// A journal file, open for this process alone.
///
/// Each method calls the system and returns when the system has answered.
struct JournalFile: Sendable {
  let path: JournalPath
  private var descriptor: Int32
  private let device: dev_t
  private let number: ino_t

  /// Opens the file, or creates it, and locks it. The lock is one of the open file: it goes with
  /// the process, however that ends.
  init(opening path: JournalPath) throws {
    self = try Self.locked(path)
    do {
      // A file of another format is refused at once, as it is.
      try path.inWords { try checkStart() }
      guard try status().st_mode & 0o7777 == 0o600 || fchmod(descriptor, 0o600) == 0
      else { throw path.error(.cannotWrite) }
    } catch {
      release()
      throw error
    }
    for file in path.leftBehind { Self.removeLeftBehind(file) }
  }

  fileprivate init(_ path: JournalPath, _ descriptor: Int32, _ status: stat) {
    (self.path, self.descriptor) = (path, descriptor)
    (device, number) = (status.st_dev, status.st_ino)
  }

  private static func locked(_ path: JournalPath) throws -> Self {
    while true {
      guard let file = try existing(path) else {
        try NewJournalFile.create(path)
        continue
      }
      do {
        // The process that had the lock before may have put another file there.
        if try file.lock(), try file.isThere() != nil { return file }
      } catch {
        file.release()
        throw error
      }
      file.release()
    }
  }

  /// Opens the file at the path, nil if there is none. Nothing else than a file is touched: to open
  /// a device may have an effect.
  private static func existing(_ path: JournalPath) throws -> Self? {
    func noFile() throws -> Self? {
      if errno == ENOENT { return nil }
      throw path.error(.cannotRead)
    }
    var status = stat()
    guard lstat(path.file, &status) == 0 else { return try noFile() }
    guard isFile(status) else { throw path.error(.foreign, nil) }
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = open(path.file, flags)
    guard descriptor >= 0 else { return try noFile() }
    guard fstat(descriptor, &status) == 0, isFile(status) else {
      close(descriptor)
      throw path.error(.foreign, nil)
    }
    return Self(path, descriptor, status)
  }

  private static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

  private func lock() throws -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    throw errno == EWOULDBLOCK ? path.error(.inUse, nil) : path.error(.cannotRead)
  }

  /// Removes a new file that never came into its place. It is one if it is mine alone, nothing foreign
  /// is in it, and no process is writing it.
  private static func removeLeftBehind(_ path: JournalPath) {
    guard let file = try? existing(path) else { return }
    defer { file.release() }
    guard let status = try? file.status(), status.st_nlink == 1, status.st_uid == geteuid(),
      (try? file.lock()) == true
    else { return }
    do { try file.checkStart() } catch JournalFault.foreign { return } catch {}
    unlink(path.file)
  }

  /// Closes the file, and lets another process open it.
  func release() {
    // A child that was forked and has not begun its program yet has the descriptor too.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Duplicates the descriptor, for reading. `release` of either unlocks both.
  func copy() throws -> Self {
    var copy = self
    copy.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy.descriptor >= 0 else { throw path.error(.cannotRead) }
    return copy
  }

  /// Closes one of the two.
  func closeCopy() { close(descriptor) }
}

// MARK: - Reading

extension JournalFile {
  private func status() throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw path.error(.cannotRead) }
    return status
  }

  private func checkStart() throws {
    let start = try bytes(at: 0, count: JournalFormat.headerSize)
    _ = try JournalFormat.whole(of: start[...], size: try size())
  }

  /// How long the file is.
  func size() throws -> Int64 { Int64(try status().st_size) }

  /// Returns the rows, and where the last whole change ends.
  func read(upTo size: Int64) throws -> (rows: HistoryRows, end: Int64) {
    let window = ByteWindow(size) { try bytes(at: $0, count: $1) }
    let reader = try path.inWords { try JournalReader(window) }
    return (reader.rows, reader.end)
  }

  /// Returns so many bytes, or fewer at the end of the file.
  fileprivate func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = bytes.withUnsafeMutableBytes { bytes in
      all(count) { done, rest in
        let start = bytes.baseAddress.map { $0 + done }
        return pread(descriptor, start, rest, off_t(offset) + off_t(done))
      }
    }
    guard let done else { throw path.error(.cannotRead) }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Calls the system until it has read or written all, or no more. Returns how much, nil if it has
  /// failed.
  private func all(_ count: Int, _ call: (_ done: Int, _ rest: Int) -> Int) -> Int? {
    var done = 0
    while done < count {
      let more = call(done, count - done)
      if more < 0, errno == EINTR { continue }
      if more < 0 { return nil }
      if more == 0 { break }
      done += more
    }
    return done
  }
}

// MARK: - Writing

extension JournalFile {
  /// Looks whether the file is as it was left, with this size if that is known. Returns the size.
  ///
  /// - Throws: A `HistoryJournalError`: `.moved` if it is no longer at its path, `.damaged` if it has
  ///   become shorter, and `.stale` if somebody else has written to it.
  @discardableResult
  func check(end: Int64, size known: Int64?) throws -> Int64 {
    guard let size = try isThere() else { throw path.error(.moved, nil) }
    guard size >= end else { throw path.error(.damaged(offset: Int(clamping: size)), nil) }
    guard size == known ?? size else { throw path.error(.stale, nil) }
    return size
  }

  /// Writes a change behind the others, in the place of a torn one if the file is longer. If that
  /// fails, it is taken away again as far as it came.
  func append(_ bytes: [UInt8], at end: Int64, size: Int64, isSynced: Bool) throws {
    if size > end { try cut(to: end) }
    do {
      try write(bytes, at: end)
      if isSynced { try sync() }
    } catch {
      try? cut(to: end)
      throw error
    }
  }

  /// Returns how long the file at the path is, nil if that is no longer this one.
  fileprivate func isThere() throws -> Int64? {
    var there = stat()
    guard lstat(path.file, &there) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw path.error(.cannotWrite)
    }
    return there.st_ino == number && there.st_dev == device ? Int64(there.st_size) : nil
  }

  fileprivate func write(_ bytes: [UInt8], at offset: Int64) throws {
    let done = bytes.withUnsafeBytes { bytes in
      all(bytes.count) { done, rest in
        let start = bytes.baseAddress.map { $0 + done }
        return pwrite(descriptor, start, rest, off_t(offset) + off_t(done))
      }
    }
    guard done == bytes.count else { throw path.error(.cannotWrite) }
  }

  private func cut(to end: Int64) throws {
    guard ftruncate(descriptor, off_t(end)) == 0 else { throw path.error(.cannotWrite) }
  }

  func sync() throws { try path.sync(descriptor) }
}

// MARK: - A new file

/// A file that is to take the place of the journal beside it, or to be the first one there.
struct NewJournalFile: Sendable {
  let file: JournalFile
  private let temporary: String
  private(set) var end = Int64(JournalFormat.headerSize)
  /// How much of the old file is in this one.
  private var copied: Int64 = 0

  /// Makes an empty file, which is no journal until it is sealed. Its name is new: nobody can have
  /// put anything there.
  init(beside path: JournalPath) throws {
    temporary = path.unguessable()
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw path.error(.cannotWrite) }
    var status = stat()
    let isOpen = fstat(descriptor, &status) == 0
    file = JournalFile(path, descriptor, status)
    do {
      guard isOpen, flock(descriptor, LOCK_EX | LOCK_NB) == 0, fchmod(descriptor, 0o600) == 0
      else { throw path.error(.cannotWrite) }
      try file.write(JournalFormat.header(whole: .max), at: 0)
    } catch {
      remove()
      throw error
    }
  }

  /// Makes a journal without rows. It gets its name when it is whole, and takes nobody's place.
  fileprivate static func create(_ path: JournalPath) throws {
    var new = try Self(beside: path)
    defer { new.remove() }
    try new.append(HistoryRows())
    try new.seal()
    if link(new.temporary, path.file) != 0 {
      // Another process was first, or has tidied up.
      if errno == EEXIST || errno == ENOENT { return }
      // Not every file system has more than one name for a file.
      var status = stat()
      if lstat(path.file, &status) == 0 { return }
      try new.takePlace()
    }
    try path.syncFolder()
  }

  /// Writes the rows that the old file has up to `end`.
  mutating func fill(from old: JournalFile, upTo end: Int64) throws {
    try append(try old.read(upTo: end).rows)
    copied = end
  }

  private mutating func append(_ rows: HistoryRows) throws {
    var (bytes, keys) = ([UInt8](), rows.rows.keys.sorted()[...])
    repeat {
      let row = keys.popFirst().map { (key: $0, bytes: rows.rows[$0]) }
      JournalFormat.append(row, version: rows.version, isLast: keys.isEmpty, to: &bytes)
      guard keys.isEmpty || bytes.count > 1 << 20 else { continue }
      try append(bytes)
      bytes.removeAll(keepingCapacity: true)
    } while !keys.isEmpty
  }

  /// Adds the changes that the old file has got since, up to `end`.
  mutating func catchUp(with old: JournalFile, upTo end: Int64) throws {
    while copied < end {
      let count = Int(min(end - copied, Int64(ByteWindow.longest)))
      let bytes = try old.bytes(at: copied, count: count)
      guard bytes.count == count else { throw old.path.error(.cannotRead, EIO) }
      try append(bytes)
      copied += Int64(count)
    }
  }

  /// Says in the header that what is here is whole, and syncs it.
  func seal() throws {
    try file.write(JournalFormat.header(whole: end), at: 0)
    try file.sync()
  }

  /// Puts the file in the place of the one that has the name of the journal.
  func takePlace() throws {
    guard rename(temporary, file.path.file) == 0 else { throw file.path.error(.cannotWrite) }
  }

  /// Removes the file, if it has no other name.
  func remove() {
    unlink(temporary)
    file.release()
  }

  private mutating func append(_ bytes: [UInt8]) throws {
    try file.write(bytes, at: end)
    end += Int64(bytes.count)
  }
}
