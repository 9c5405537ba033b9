import Foundation
import UseCaseHistory

/// The place of a journal file in its folder.
///
/// It is found once, when the journal is opened. No link and no relative path leads elsewhere later.
struct JournalPath: Sendable {
  /// The folder, without links.
  let folder: String
  private let name: String
  let file: String

  /// Finds the file of the journal, at the end of all links. It may not exist yet.
  init(_ url: URL) throws {
    guard url.isFileURL else {
      throw HistoryJournalError(
        .cannotRead, journal: url.absoluteString, cause: CocoaError(.fileReadUnsupportedScheme))
    }
    // A link whose file is not there yet is followed, too, as often as the system follows one.
    var path = url.absoluteURL.path
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      else { break }
      path = URL(filePath: target, relativeTo: URL(filePath: path).deletingLastPathComponent()).path
    }
    let file = URL(filePath: path)
    guard !path.utf8.contains(0), let real = realpath(file.deletingLastPathComponent().path, nil)
    else {
      let code = POSIXErrorCode(rawValue: errno) ?? .EIO
      throw HistoryJournalError(.cannotRead, journal: url.path, cause: POSIXError(code))
    }
    self.init(String(cString: real), file.lastPathComponent)
    free(real)
  }

  private init(_ folder: String, _ name: String) {
    (self.folder, self.name, file) = (folder, name, Self.file(folder, name))
  }

  private static func file(_ folder: String, _ name: String) -> String {
    folder == "/" ? folder + name : "\(folder)/\(name)"
  }
}

// MARK: - The new file that takes the place of the old one

extension JournalPath {
  /// Returns a path in the folder that nobody can have guessed.
  func unguessable() -> String { Self.file(folder, prefix + UUID().uuidString) }

  /// Returns the files that processes have left behind which ended while they wrote a new file.
  var leftBehind: [JournalPath] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      // A text that only looks like one may be parsed, too.
      let number = String(name.dropFirst(prefix.count))
      return name.hasPrefix(prefix) && UUID(uuidString: number)?.uuidString == number
    }.map { JournalPath(folder, $0) }
  }

  /// The number tells the journals of a folder apart.
  private var prefix: String {
    ".journal-\(String(Checksum.of(Array(name.utf8)[...]), radix: 16))-"
  }
}

// MARK: - The system

extension JournalPath {
  /// A new name in a folder survives the loss of power when the folder is synced, too.
  func syncFolder() throws {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error(.cannotWrite) }
    defer { close(descriptor) }
    try sync(descriptor)
  }

  func sync(_ descriptor: Int32) throws {
    #if canImport(Darwin)
      // `fsync` leaves the bytes in the cache of the drive there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
      // Some file systems have no such call. Any other error is one of the drive.
      guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { throw error(.cannotWrite) }
    #endif
    guard fsync(descriptor) == 0 else { throw error(.cannotWrite) }
  }

  /// Throws a fault of the bytes as an error that names the file.
  func inWords<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch JournalFault.damaged(let offset) {
      throw error(.damaged(offset: Int(clamping: offset)), nil)
    } catch JournalFault.foreign {
      throw error(.foreign, nil)
    }
  }

  /// Returns an error that names the file, with the code of the last call of the system, or none.
  func error(
    _ reason: HistoryJournalError.Reason, _ code: Int32? = errno
  ) -> HistoryJournalError {
    let cause = code.map { POSIXError(POSIXErrorCode(rawValue: $0) ?? .EIO) }
    return HistoryJournalError(reason, journal: file, cause: cause)
  }
}
