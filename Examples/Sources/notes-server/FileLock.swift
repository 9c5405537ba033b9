import Foundation

/// Keeps a second server from a file, and tells it where the first one is.
///
/// The system takes the lock back from a process that ends, however it ends.
struct FileLock {
  let isMine: Bool
  private let file: Int32

  init(path: String) throws(Failure) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot open \(path)") }
    isMine = flock(file, LOCK_EX | LOCK_NB) == 0
    if isMine { note = "" }
  }

  /// The note of the holder; it is empty for a moment at the start.
  var note: String {
    get {
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = pread(file, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    nonmutating set {
      ftruncate(file, 0)
      pwrite(file, newValue, newValue.utf8.count, 0)
    }
  }
}
