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
    var path = url.absoluteURL.path
    // As many links as the system follows.
    for _ in 0..<40 {
      let (above, name) = Self.split(path)
      guard !path.utf8.contains(0), let real = realpath(above, nil) else {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        throw HistoryJournalError(.cannotRead, journal: url.path, cause: POSIXError(code))
      }
      let found = (folder: String(cString: real), name: name)
      free(real)
      let file = Self.file(found.folder, found.name)
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file) else {
        (folder, self.name, self.file) = (found.folder, found.name, file)
        return
      }
      path = target.hasPrefix("/") ? target : Self.file(found.folder, target)
    }
    throw HistoryJournalError(.cannotRead, journal: url.path, cause: POSIXError(.ELOOP))
  }

  private static func file(_ folder: String, _ name: String) -> String {
    folder == "/" ? folder + name : "\(folder)/\(name)"
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }
}

// MARK: - The new file that takes the place of the old one

extension JournalPath {
  /// Returns a path in the folder that nobody can have guessed.
  func unguessable() -> String {
    let number = (0..<2).map { _ in Self.hex(UInt64.random(in: .min ... .max)) }.joined()
    return Self.file(folder, prefix + number)
  }

  /// Returns the files that processes have left behind which ended while they wrote a new file.
  var leftBehind: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter {
      $0.hasPrefix(prefix) && $0.utf8.count == prefix.utf8.count + 32
        && $0.dropFirst(prefix.count).allSatisfy(\.isHexDigit)
    }.map { Self.file(folder, $0) }
  }

  /// The number tells the journals of a folder apart.
  private var prefix: String { ".journal-\(Self.hex(Checksum.of(Array(name.utf8)[...])))-" }

  private static func hex(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: number.bitWidth / 4 - digits.count) + digits
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
    #endif
    guard fsync(descriptor) == 0 else { throw error(.cannotWrite) }
  }

  /// Returns an error that names the file, with the code of the last call of the system, or none.
  func error(
    _ reason: HistoryJournalError.Reason, _ code: Int32? = errno
  ) -> HistoryJournalError {
    let cause = code.map { POSIXError(POSIXErrorCode(rawValue: $0) ?? .EIO) }
    return HistoryJournalError(reason, journal: file, cause: cause)
  }
}
