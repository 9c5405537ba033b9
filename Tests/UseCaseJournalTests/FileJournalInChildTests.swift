import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

/// The journal in another process, or in one with less room or fewer rights.
@Suite(.mustEnd)
struct FileJournalInChildTests {
  #if os(Linux) || os(macOS)
    @Test(.holds("Whose file"))
    func `a second process gets an error at once`() async throws {
      let folder = try Folder()
      let journal = try FileJournal(at: folder.file)
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        guard await reason({ try FileJournal(at: file) }) == .inUse else { exit(1) }
      }
      await journal.close()
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        _ = try FileJournal(at: file)
      }
    }

    @Test func `a process that is killed leaves what it has written, and no lock`() async throws {
      let folder = try Folder()
      await #expect(processExitsWith: .signal(SIGKILL)) { [file = folder.file as URL] in
        let journal = try FileJournal(at: file)
        for number in 0..<10 { try await journal.write([Int64(number): [1]], number) }
        kill(getpid(), SIGKILL)
      }
      #expect(try await folder.read() == HistoryRows(after: (0..<10).map { [$0: [1]] }))
    }

    @Test(.holds("Full disk"), arguments: [FileJournal.Durability.process, .power])
    func `on a full disk a write fails in words, and the same can be written later`(
      durability: FileJournal.Durability
    ) async throws {
      let folder = try Folder()
      let isSynced = durability == .power
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) { [file = folder.file as URL, isSynced = isSynced as Bool] in
        signal(SIGXFSZ, SIG_IGN)
        let journal = try FileJournal(at: file, durability: isSynced ? .power : .process)
        try await journal.write([1: [1]], 0)
        let size = try Data(contentsOf: file).count
        setFileLimit(200)
        let long: Rows = [2: [UInt8](repeating: 2, count: 200), 1: nil]
        for _ in 1...3 {
          guard await reason({ try await journal.write(long, 1) }) == .cannotWrite else { exit(1) }
          // Nothing is left of it.
          guard try Data(contentsOf: file).count == size else { exit(2) }
          guard try await journal.read() == HistoryRows(after: [[1: [1]]]) else { exit(3) }
        }
        do { try await journal.write(long, 1) } catch {
          FileHandle.standardError.write(Data("\(error)".utf8))
        }
        try await journal.write([3: [3]], 1)
        setFileLimit(.max)
        try await journal.write(long, 2)
      }
      let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(words.contains("It is impossible to write the journal \(folder.file.path). ("))
      #expect(try folder.names == ["undo.journal"])
      #expect(
        try await folder.read()
          == HistoryRows(version: 3, rows: [2: [UInt8](repeating: 2, count: 200), 3: [3]]))
    }

    @Test(.holds("Full disk"))
    func `a file that cannot be written anew goes on, and is written anew later`() async throws {
      let folder = try Folder()
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        func size() -> Int64 {
          var status = stat()
          guard stat(file.path, &status) == 0 else { exit(3) }
          return Int64(status.st_size)
        }
        let journal = try FileJournal(at: file)
        let row = [UInt8](repeating: 1, count: 1_000)
        _ = try await journal.read()
        setLimit(RLIMIT_NOFILE, 0)
        for version in 0..<500 { try await journal.write([1: row], version) }
        setLimit(RLIMIT_NOFILE, 1_000)
        guard size() > 500_000 else { exit(1) }
        // The next try is made when the file is twice as long as after the last one. Its end may come
        // late, and what is written meanwhile is in the new file, too: so the writes become rare.
        var version = 500
        while version < 1_200 || size() > 500_000 {
          try await journal.write([1: row], version)
          version += 1
          usleep(UInt32(max(0, version - 1_200) * 100))
        }
        await journal.close()
      }
      #expect(try await folder.read().rows == [1: [UInt8](repeating: 1, count: 1_000)])
      #expect(try folder.names == ["undo.journal"])
    }

    @Test(.holds("Files"))
    func `no file stays open, whatever becomes of it`() async throws {
      let folder = try Folder()
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        func openFiles() -> Int {
          (0..<1_000 as Range<Int32>).count { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
          }
        }
        let journal = try FileJournal(at: file)
        let row = [UInt8](repeating: 1, count: 1_000)
        _ = try await journal.read()
        let before = openFiles()
        // Written anew a few times, and given up once.
        for version in 0..<500 { try await journal.write([1: row], version) }
        await journal.close()
        guard openFiles() == before - 1 else { exit(1) }
        let next = try FileJournal(at: file)
        for version in 500..<600 { try await next.write([1: row], version) }
        try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("moved"))
        guard await reason({ try await next.write([1: row], 600) }) == .moved else { exit(2) }
        await next.close()
        guard openFiles() == before - 1 else { exit(3) }
        // As a process leaves it that is killed while it writes a new file.
        let moved = file.appendingPathExtension("moved")
        let left = URL(filePath: try JournalPath(moved).unguessable())
        try Data(contentsOf: moved).write(to: left)
        let last = try FileJournal(at: moved)
        guard openFiles() == before else { exit(4) }
        await last.close()
      }
    }

    @Test func `in a folder without permission a journal is an error in words`() async throws {
      let folder = try Folder()
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        // Nobody forbids anything to root.
        if getuid() == 0, setuid(65_534) != 0 { exit(1) }
        guard await reason({ try FileJournal(at: file) }) == .cannotWrite else { exit(2) }
      }
      #expect(try folder.names == [])
    }
  #endif
}

func setFileLimit(_ bytes: rlim_t) { setLimit(RLIMIT_FSIZE, bytes) }

#if canImport(Glibc)
  func setLimit(_ kind: __rlimit_resource, _ value: rlim_t) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(kind.rawValue), &limit)
    limit.rlim_cur = min(value, limit.rlim_max)
    setrlimit(__rlimit_resource_t(kind.rawValue), &limit)
  }
#else
  func setLimit(_ kind: Int32, _ value: rlim_t) {
    var limit = rlimit()
    getrlimit(kind, &limit)
    limit.rlim_cur = min(value, limit.rlim_max)
    setrlimit(kind, &limit)
  }
#endif
