import Foundation
import TestSupport
import Testing
import UseCase
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
    let journal = try FileJournal(at: folder.file)
    try await journal.replace(with: [[1]])
    await journal.close()
    #expect(try folder.names == (before + ["undo.journal"]).sorted())
    #expect(try text("other") == "mine")
    #expect(try text("undo.journal.new") == "new")
    #expect(try permissions(of: url("other")) != 0o600)
  }

  /// The name of the file that a process leaves which is killed while it writes a new one.
  private func leftBehind() async throws -> String {
    let journal = try FileJournal(at: folder.file)
    await journal.close()
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
        let records = [[UInt8]](repeating: Array(repeating: 2, count: 999), count: 999)
        while true { try await journal.replace(with: records) }
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

  @Test(.holds("Whose file"))
  func `a journal that was moved away replaces nobody else's`() async throws {
    let first = try FileJournal(at: folder.file)
    try await first.append([1])
    try FileManager.default.moveItem(at: folder.file, to: url("moved"))
    let second = try FileJournal(at: folder.file)
    try await second.append([2])
    #expect(await reason { try await first.replace(with: [[3]]) } == .moved)
    try await first.append([4])
    #expect(try await first.read() == [[1], [4]])
    await second.close()
    #expect(try await folder.read() == [[2]])
    #expect(try folder.names == ["moved", "undo.journal"])
    await first.close()
    let moved = try FileJournal(at: url("moved"))
    #expect(try await moved.read() == [[1], [4]])
  }

  @Test func `a journal that was deleted is not made again`() async throws {
    let journal = try FileJournal(at: folder.file)
    try FileManager.default.removeItem(at: folder.file)
    let error = await #expect(throws: HistoryJournalError.self) {
      try await journal.replace(with: [[3]])
    }
    #expect(
      error?.description
        == """
        The journal \(folder.file.path) was moved, deleted or replaced while it was open. The file \
        that is there now was left unchanged.
        """)
    #expect(try folder.names == [])
  }

  @Test(.holds("Whose file"))
  func `a journal whose folder was moved away says so, and is still found there`() async throws {
    let (inner, away) = (url("inner"), url("away"))
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    let journal = try FileJournal(at: inner.appending(path: "undo.journal"))
    try FileManager.default.moveItem(at: inner, to: away)
    #expect(await reason { try await journal.replace(with: [[1]]) } == .moved)
    try await journal.append([2])
    await journal.close()
    let found = try FileJournal(at: away.appending(path: "undo.journal"))
    #expect(try await found.read() == [[2]])
    await found.close()
  }

  // MARK: Paths

  @Test func `a dangling link leads to a new file, and stays`() async throws {
    let inner = url("inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    try link("link", to: "inner/../inner/target")
    let journal = try FileJournal(at: url("link"))
    try await journal.replace(with: [[1]])
    await journal.close()
    let target = try FileJournal(at: inner.appending(path: "target"))
    #expect(try await target.read() == [[1]])
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: url("link").path)
        == "inner/../inner/target")
  }

  @Test func `links that lead round are an error in words`() async throws {
    try link("a", to: "b")
    try link("b", to: "a")
    #expect(await reason { try FileJournal(at: url("a")) } == .cannotRead)
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
      try await journal.append([1])
      guard files.changeCurrentDirectoryPath("/") else { exit(2) }
      try await journal.replace(with: [[2]])
      await journal.close()
    }
    #expect(try await folder.read() == [[2]])
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

  // MARK: Turns

  @Test func `closing waits for the calls that have begun, and later ones fail`() async throws {
    let journal = try FileJournal(at: folder.file)
    let records = [[UInt8]](repeating: [1], count: 1_000)
    await withTaskGroup { group in
      group.addTask { _ = await reason { try await journal.replace(with: records) } }
      group.addTask { await journal.close() }
      for _ in 0..<10 {
        group.addTask {
          let reason = await reason { try await journal.append([2]) }
          #expect(reason == nil || reason == .closed)
        }
      }
    }
    #expect(await reason { try await journal.append([3]) } == .closed)
    _ = try await folder.read()
  }

  @Test func `closing leaves the records that were appended`() async throws {
    let journal = try FileJournal(at: folder.file)
    for number in 1...3 { try await journal.append([UInt8(number)]) }
    await journal.close()
    #expect(try await folder.read() == [[1], [2], [3]])
  }

  @Test func `a call that waits for its turn blocks no thread`() {
    func words(_ answer: FileTurn<String, Int>.Answer) -> String {
      switch answer {
      case .wait: "wait"
      case .go(let file): file ?? "closed"
      }
    }
    var turn = FileTurn<String, Int>.free("file")
    #expect((1...3).map { words(turn.take($0)) } == ["file", "wait", "wait"])
    #expect(turn.takeFree() == nil)
    #expect(turn.giveBack("file") == [2])
    #expect(turn.giveBack(nil) == [3])
    #expect(words(turn.take(4)) == "closed")
  }

  // MARK: Histories

  @Test(.holds("Whose file"))
  func `a second history on one journal is refused`() async throws {
    let journal = try FileJournal(at: folder.file)
    do {
      let history = try await UseCaseHistory.open(journal, for: [])
      #expect(await reason { try await UseCaseHistory.open(journal, for: []) } == .inUse)
      await history.idle()
    }
    let third = try await UseCaseHistory.open(journal, for: [])
    #expect(third.journalError == nil)
  }

  @Test func `a journal that was moved away says so, until the next one`() async throws {
    let journal = try FileJournal(at: folder.file)
    let history = try await UseCaseHistory.open(journal, for: [Add()])
    try FileManager.default.moveItem(at: folder.file, to: url("moved"))
    for number in 0..<200 { await history.execute(Add(), number).ended() }
    history.clear()
    await history.idle()
    for number in 0..<3 { await history.execute(Add(), number).ended() }
    #expect((history.journalError as? HistoryJournalError)?.reason == .moved)
    #expect(history.entries.count == 3)
    #expect(try folder.names == ["moved"])
  }
}

private struct Add: JournaledUseCase {
  static let journalName = "add"
  func main(_ number: Int) async throws -> Int { number }
  func undo(_: Int, _: Int) async throws {}
}
