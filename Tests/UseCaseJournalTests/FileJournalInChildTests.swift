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

    @Test func `a process that is killed leaves what it has appended, and no lock`() async throws {
      let folder = try Folder()
      await #expect(processExitsWith: .signal(SIGKILL)) { [file = folder.file as URL] in
        let journal = try FileJournal(at: file)
        for number in 0..<UInt8(10) { try await journal.append([number]) }
        kill(getpid(), SIGKILL)
      }
      #expect(try await folder.read() == (0..<10).map { [$0] })
    }

    @Test(.holds("Full disk"))
    func `on a full disk an append fails in words, and the file goes on later`() async throws {
      let folder = try Folder()
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) { [file = folder.file as URL] in
        signal(SIGXFSZ, SIG_IGN)
        let journal = try FileJournal(at: file)
        try await journal.append([1])
        setFileLimit(100)
        let long = [UInt8](repeating: 2, count: 200)
        for _ in 1...3 {
          guard await reason({ try await journal.append(long) }) == .cannotWrite else { exit(1) }
          guard await reason({ try await journal.replace(with: [long]) }) == .cannotWrite
          else { exit(2) }
        }
        try await journal.append([3])
        // The header and two records, and nothing of those that failed.
        guard try Data(contentsOf: file).count == 24 + 2 * 13 else { exit(3) }
        do { try await journal.append(long) } catch {
          FileHandle.standardError.write(Data("\(error)".utf8))
        }
      }
      let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(words.contains("It is impossible to write the journal \(folder.file.path). ("))
      // The next one that opens the journal would remove what is left of a new file.
      #expect(try folder.names == ["undo.journal"])
      #expect(try await folder.read() == [[1], [3]])
    }

    @Test(.holds("Files"))
    func `no file stays open, whatever becomes of it`() async throws {
      let folder = try Folder()
      await #expect(processExitsWith: .success) { [file = folder.file as URL] in
        signal(SIGXFSZ, SIG_IGN)
        func openFiles() throws -> Int {
          try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
        }
        let journal = try FileJournal(at: file)
        let before = try openFiles()
        setFileLimit(100)
        let long = [UInt8](repeating: 2, count: 200)
        guard await reason({ try await journal.replace(with: [long]) }) == .cannotWrite
        else { exit(1) }
        setFileLimit(.max)
        try await journal.replace(with: [long])
        guard try openFiles() == before else { exit(2) }
        await journal.close()
        guard try openFiles() == before - 1 else { exit(3) }
        // As a process leaves it that is killed while it writes a new file.
        let left = URL(filePath: try JournalPath(file).unguessable())
        try Data(contentsOf: file).write(to: left)
        let next = try FileJournal(at: file)
        guard try openFiles() == before else { exit(4) }
        await next.close()
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

func setFileLimit(_ bytes: rlim_t) {
  var limit = rlimit(rlim_cur: bytes, rlim_max: .max)
  #if canImport(Glibc)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  #else
    setrlimit(RLIMIT_FSIZE, &limit)
  #endif
}
