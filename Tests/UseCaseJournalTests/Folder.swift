import Foundation
import UseCaseHistory
import UseCaseJournal

/// A folder for one test, which goes with it.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var file: URL { url.appending(path: "undo.journal") }
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: file)) }
  }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: file) }

  /// Opens the file, reads it and closes it again.
  func read() async throws -> [[UInt8]] {
    let journal = try FileJournal(at: file)
    let records = await Result { try await journal.read() }
    await journal.close()
    return try records.get()
  }

  /// Makes a file of these records, and returns where each begins and where the last ends.
  func fill(_ records: [[UInt8]]) async throws -> [Int] {
    let journal = try FileJournal(at: file)
    var offsets = [try bytes.count]
    for record in records {
      try await journal.append(record)
      offsets.append(try bytes.count)
    }
    await journal.close()
    return offsets
  }
}

/// The reason of the error that `body` throws, if it is one of a journal.
func reason(_ body: () async throws -> some Any) async -> HistoryJournalError.Reason? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? HistoryJournalError)?.reason
  }
}

extension Result where Failure == any Error {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
