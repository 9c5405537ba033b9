import Foundation
import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

/// A journal touches its own file, and no other one of the folder.
@Suite(.mustEnd)
struct NeighborTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func url(_ name: String) -> URL { folder.url.appending(path: name) }
  private func text(_ name: String) throws -> String {
    try String(contentsOf: url(name), encoding: .utf8)
  }
  private func link(_ name: String, to other: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: url(name).path, withDestinationPath: other)
  }

  @Test(.holds("Whose file"))
  func `files, links and folders beside a journal stay as they are`() async throws {
    try Data("mine".utf8).write(to: url("other"))
    try Data("new".utf8).write(to: url("undo.journal.new"))
    try link(".undo.journal.new", to: "other")
    try FileManager.default.linkItem(at: url("other"), to: url("undo.journal~"))
    try FileManager.default.createDirectory(
      at: url("undo.journal.tmp"), withIntermediateDirectories: false)
    let before = try folder.names
    try await folder.fillUntilWrittenAnew()
    #expect(try folder.names == (before + ["undo.journal"]).sorted())
    #expect(try text("other") == "mine")
    #expect(try text("undo.journal.new") == "new")
    #expect(try permissions(of: url("other")) != 0o600)
  }

  /// The name of the file that a process leaves which is killed while it writes a new one.
  private func leftBehind() async throws -> String {
    for _ in 1...20 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [file = folder.file as URL, folder = folder.url.path as String] in
        let journal = try FileJournal(at: file)
        Thread {
          while true {
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
            if names?.contains(where: { $0.hasPrefix(".journal-") }) == true {
              kill(getpid(), SIGKILL)
            }
          }
        }.start()
        var version = Int(try await journal.read().version)
        while true {
          try await journal.write([1: [UInt8](repeating: 2, count: 60_000)], version)
          version += 1
        }
      }
      // If the kill comes too late, the new file has the name of the journal already.
      if let name = try folder.names.first(where: { $0.hasPrefix(".journal-") }) { return name }
    }
    return try #require(try folder.names.first { $0.hasPrefix(".journal-") })
  }

  @Test func `the new file of a process that was killed is removed, and none that only looks so`()
    async throws
  {
    let name = try await leftBehind()
    #expect(try permissions(of: url(name)) == 0o600)
    let stem = name.dropLast(4)
    try Data("mine".utf8).write(to: url("\(stem)0000"))
    try link("\(stem)0001", to: "undo.journal")
    try Data(contentsOf: folder.file).write(to: url("linked"))
    try FileManager.default.linkItem(at: url("linked"), to: url("\(stem)0002"))
    try Data(contentsOf: folder.file).write(to: url("\(stem)000x"))
    let before = Set(try folder.names)
    _ = try await folder.read()
    #expect(try Set(folder.names) == before.subtracting([name]))
  }

  // MARK: Moved

  @Test(.holds("Whose file"))
  func `a journal that was moved away writes nothing more, and touches nobody else's`()
    async throws
  {
    let first = try FileJournal(at: folder.file)
    try await first.write([1: [1]], 0)
    try FileManager.default.moveItem(at: folder.file, to: url("moved"))
    #expect(await reason { try await first.write([1: [3]], 1) } == .moved)
    let second = try FileJournal(at: folder.file)
    try await second.write([2: [2]], 0)
    #expect(await reason { try await first.write([1: [3]], 1) } == .moved)
    #expect(try await first.read() == HistoryRows(after: [[1: [1]]]))
    await second.close()
    #expect(try await folder.read() == HistoryRows(after: [[2: [2]]]))
    #expect(try folder.names == ["moved", "undo.journal"])
    await first.close()
    let moved = try FileJournal(at: url("moved"))
    #expect(try await moved.read() == HistoryRows(after: [[1: [1]]]))
  }

  @Test(.holds("Whose file"))
  func `a journal that comes back goes on`() async throws {
    let journal = try FileJournal(at: folder.file)
    try await journal.write([1: [1]], 0)
    try FileManager.default.moveItem(at: folder.file, to: url("moved"))
    #expect(await reason { try await journal.write([1: [2]], 1) } == .moved)
    try FileManager.default.moveItem(at: url("moved"), to: folder.file)
    try await journal.write([1: [2]], 1)
    await journal.close()
    #expect(try await folder.read() == HistoryRows(after: [[1: [1]], [1: [2]]]))
  }

  @Test func `a journal that was deleted is not made again`() async throws {
    let journal = try FileJournal(at: folder.file)
    try FileManager.default.removeItem(at: folder.file)
    let error = await #expect(throws: HistoryJournalError.self) {
      try await journal.write([3: [3]], 0)
    }
    #expect(
      error?.description
        == """
        The journal \(folder.file.path) was moved, deleted or replaced while it was open. The file \
        that is there now was left unchanged.
        """)
    #expect(try folder.names == [])
  }

  @Test(.holds("Whose file"), arguments: ["a copy", "a link", "a folder"])
  func `what has taken the place of a journal is left as it is`(kind: String) async throws {
    let journal = try FileJournal(at: folder.file)
    try await journal.write([1: [1]], 0)
    try FileManager.default.moveItem(at: folder.file, to: url("moved"))
    switch kind {
    case "a copy": try FileManager.default.copyItem(at: url("moved"), to: folder.file)
    case "a link": try link("undo.journal", to: "moved")
    default:
      try FileManager.default.createDirectory(
        at: folder.file, withIntermediateDirectories: false)
    }
    let before = try Data(contentsOf: url("moved"))
    #expect(await reason { try await journal.write([1: [3]], 1) } == .moved)
    #expect(try Data(contentsOf: url("moved")) == before)
    if kind == "a copy" { #expect(try Data(contentsOf: folder.file) == before) }
  }

  @Test(.holds("Whose file"))
  func `a journal whose folder was moved away says so, and is still found there`() async throws {
    let (inner, away) = (url("inner"), url("away"))
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    let journal = try FileJournal(at: inner.appending(path: "undo.journal"))
    try await journal.write([1: [1]], 0)
    try FileManager.default.moveItem(at: inner, to: away)
    #expect(await reason { try await journal.write([1: [2]], 1) } == .moved)
    await journal.close()
    let found = try FileJournal(at: away.appending(path: "undo.journal"))
    #expect(try await found.read() == HistoryRows(after: [[1: [1]]]))
    await found.close()
  }

  // MARK: Paths

  @Test func `a dangling link leads to a new file, and stays`() async throws {
    let inner = url("inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    try link("link", to: "inner/../inner/target")
    let journal = try FileJournal(at: url("link"))
    try await journal.write([1: [1]], 0)
    await journal.close()
    let target = try FileJournal(at: inner.appending(path: "target"))
    #expect(try await target.read() == HistoryRows(after: [[1: [1]]]))
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: url("link").path)
        == "inner/../inner/target")
  }

  @Test func `links that lead round are an error in words`() async throws {
    try link("a", to: "b")
    try link("b", to: "a")
    #expect(await reason { try FileJournal(at: url("a")) } == .foreign)
  }

  @Test func `an address that is no file is refused`() async throws {
    let address = try #require(URL(string: "https://example.com\(folder.file.path)"))
    let error = #expect(throws: HistoryJournalError.self) { try FileJournal(at: address) }
    #expect(error?.reason == .cannotRead)
    #expect(error?.journal == address.absoluteString)
    #expect(try folder.names == [])
  }

  @Test func `a relative path is one file, wherever the process goes`() async throws {
    await #expect(processExitsWith: .success) { [folder = folder.url as URL] in
      let files = FileManager.default
      guard files.changeCurrentDirectoryPath(folder.path) else { exit(1) }
      let journal = try FileJournal(at: URL(filePath: "undo.journal"))
      try await journal.write([1: [1]], 0)
      guard files.changeCurrentDirectoryPath("/") else { exit(2) }
      try await journal.write([1: [2]], 1)
      await journal.close()
    }
    #expect(try await folder.read() == HistoryRows(after: [[1: [1]], [1: [2]]]))
  }

  @Test func `a file that is written anew through a link is replaced, and the link stays`()
    async throws
  {
    let inner = url("inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    try link("undo.journal", to: "inner/target")
    try await folder.fillUntilWrittenAnew()
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.file.path)
        == "inner/target")
    #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path) == ["target"])
    #expect(try folder.names == ["inner", "undo.journal"])
  }

  @Test(arguments: ["fifo", "folder", "device"])
  func `what is no file is refused as it is`(kind: String) async throws {
    let url = kind == "device" ? URL(filePath: "/dev/null") : self.url(kind)
    if kind == "fifo" { #expect(mkfifo(url.path, 0o644) == 0) }
    if kind == "folder" {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }
    let before = try permissions(of: url)
    #expect(await reason { try FileJournal(at: url) } == .foreign)
    #expect(try permissions(of: url) == before)
  }
}
