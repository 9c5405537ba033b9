import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

/// Entries that nobody can read, what is to be discarded, and the size of a journal.
@Suite(.mustEnd)
struct JournalUpkeepTests {
  private let disk = Disk()
  private let paper = Paper()

  // MARK: Unreadable

  @Test(.holds("Unreadable"))
  func `an entry that nobody knows is kept, and says so`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    await history.execute(Letters(paper: paper), "b").ended()
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: [Letters(paper: paper)])
    #expect(other.entries.map(\.standing) == [.unreadable, .normal])
    #expect(other.layout == "[A b |]")
    await other.back(1)
    #expect(await other.undo().ended().journalReason == .unreadable("write"))
    #expect(other.layout == "[A | b]")
    let third = second.next()
    let again = try await UseCaseHistory.open(third, paper)
    #expect(again.entries.map(\.standing) == [.normal, .normal])
    await again.back(1)
    #expect(again.layout == "[| A b]*")
    other.forget(try #require(other.id("A")))
    await other.idle()
    #expect(try await UseCaseHistory.open(second.next(), paper).layout == "[| b]")
  }

  @Test(arguments: [true, false])
  func `an interrupted execution that nobody knows leaves for good`(clears: Bool) async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    let others = [Letters(paper: paper)]
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: others)
    #expect(other.layout == "[A |]")
    other.save()
    await other.idle()
    let third = second.next()
    let saved = try await UseCaseHistory.open(third, for: others)
    #expect(saved.layout == "[A |]*")
    if clears { saved.clear() } else { saved.forget(try #require(saved.id("A"))) }
    await saved.idle()
    #expect(try await UseCaseHistory.open(third.next(), for: others).layout == "[|]*")
  }

  @Test(.holds("Clean"), arguments: [true, false])
  func `an interrupted undo that nobody knows leaves for good`(clears: Bool) async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.back(1)
    let others = [Letters(paper: paper)]
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: others)
    if clears { other.clear() } else { other.forget(try #require(other.id("A"))) }
    other.save()
    await other.idle()
    #expect(other.layout == "[|]*")
    #expect(try await UseCaseHistory.open(second.next(), for: others).layout == "[|]*")
  }

  @Test(.holds("In doubt"), arguments: [true, false])
  func `an undo or a redo that nobody can read changes no doubt about it`(
    isRedo: Bool
  ) async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.execute(Letters(paper: paper), "b").ended()
    if isRedo { await history.back(1) }
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    if isRedo { await history.forth(1) } else { await history.back(1) }
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: [Write(paper: paper)])
    let (id, writes) = (try #require(other.id("b")), second.writes)
    for move in isRedo ? [other.redo(), other.redo(id)] : [other.undo(), other.undo(id)] {
      #expect(await move.ended().journalReason == .unreadable("letters"))
    }
    await other.idle()
    #expect(second.writes == writes)
    let next = try await UseCaseHistory.open(second.next(), paper)
    #expect(paper.asked.elements == [id])
    #expect(next.layout.hasPrefix(isRedo ? "[b |]" : "[| b]"))
    #expect(next.entries.map(\.standing) == [.normal])
  }

  @Test(.holds("Unreadable"))
  func `a request of another shape is unreadable, byte for byte`() async throws {
    struct Count: JournaledUseCase {
      static let journalName = Write.journalName
      func main(_ count: [Int]) async throws -> Int { count[0] }
      func undo(_: [Int], _: Int) async throws {}
    }
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    let other = disk.next()
    #expect(
      try await UseCaseHistory.open(other, for: [Count()]).entries.map(\.standing) == [.unreadable])
    #expect(try await UseCaseHistory.open(other.next(), paper).layout == "[A |]")
  }

  @Test(.holds("Unreadable"))
  func `a group with an unreadable part is unreadable`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    let (write, letters) = (
      Write(paper: paper).recorded(in: history), Letters(paper: paper).recorded(in: history)
    )
    await history.group("G") { _ = try await (write("A"), letters("b")) }.ended()
    let other = try await UseCaseHistory.open(disk.next(), for: [Letters(paper: paper)])
    #expect(other.entries.map(\.standing) == [.unreadable])
    #expect(other.layout == "[G(A b) |]")
  }

  @Test func `a response that cannot be encoded is an error, which later writes do not hide`()
    async throws
  {
    let asking = Asking(discarded: Log())
    let history = try await UseCaseHistory.open(disk, for: [asking])
    for isWhole in [false, true] {
      let outcome = await history.execute(asking, isWhole).ended()
      #expect(throws: Never.self) { try outcome.get() }
      #expect(history.journalError is HistoryJournalError)
    }
    let next = try await UseCaseHistory.open(disk.next(), for: [asking])
    #expect(next.entries.map(\.standing) == [.unreadable, .normal])
    #expect(next.journalError == nil)
  }

  @Test(.holds("What ends merging"))
  func `nothing merges across a request that cannot be encoded`() async throws {
    struct Refusing: HistoryCoder {
      let json = JSONHistoryCoder()
      func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        if "\(value)" == "x" { throw Failure("encode") }
        return try json.encode(value)
      }
      func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try json.decode(type, from: bytes)
      }
    }
    let history = try await UseCaseHistory.open(Disk(coder: Refusing()), paper)
    for text in ["a", "b", "x", "c"] {
      await history.execute(Letters(paper: paper), text).ended()
    }
    #expect(history.layout == "[ab c |]")
    #expect(paper.log.elements.filter { $0.hasPrefix("do") } == ["do a", "do b", "do c"])
  }

  @Test func `a response of a part that can be encoded later is written`() async throws {
    struct Late: JournaledUseCase {
      struct Reply: Codable, Sendable {
        let failures: Watched<Int>?

        init(_ failures: Watched<Int>) { self.failures = failures }
        init(from decoder: any Decoder) throws { failures = nil }

        func encode(to encoder: any Encoder) throws {
          let left = failures?.update { left in
            left -= 1
            return left
          }
          if let left, left >= 0 { throw Failure("encode") }
          var container = encoder.singleValueContainer()
          try container.encode(0)
        }
      }

      static let journalName = "late"
      let failures: Watched<Int>
      func main(_ text: String) async throws -> Reply { Reply(failures) }
      func undo(_: String, _: Reply) async throws {}
    }
    let late = Late(failures: Watched(1))
    let history = try await UseCaseHistory.open(disk, for: [late, Write(paper: paper)])
    let recorded = late.recorded(in: history)
    await history.group("G") { [paper] in
      _ = try await recorded("a")
      #expect(history.journalError is HistoryJournalError)
      _ = try await Write(paper: paper).recorded(in: history)("b")
    }.ended()
    #expect(history.journalError == nil)
    let next = try await UseCaseHistory.open(disk.next(), for: [late, Write(paper: paper)])
    #expect(next.entries.map(\.standing) == [.normal])
  }

  @Test(.holds("Unreadable"))
  func `a renamed use case reads the entries of its former names, and writes its own`()
    async throws
  {
    struct Renamed: JournaledUseCase {
      static let journalName = "renamed"
      static let formerJournalNames = ["older", Write.journalName]
      func main(_ text: String) async throws -> StoredAnswer { StoredAnswer(text.utf8.count) }
      func undo(_: String, _: StoredAnswer) async throws {}
      func title(for text: String) -> String { text }
    }
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    let second = disk.next()
    let renamed = try await UseCaseHistory.open(second, for: [Renamed()])
    #expect(renamed.entries.map(\.standing) == [.normal])
    await renamed.execute(Renamed(), "B").ended()
    await renamed.back(2)
    #expect(renamed.layout == "[| A B]*")
    #expect(second.names(Write.journalName) && second.names("renamed"))
    let error = await #expect(throws: HistoryJournalError.self) {
      try await UseCaseHistory.open(second.next(), for: [Write(paper: paper), Renamed()])
    }
    #expect(error?.reason == .duplicateName("write"))
  }

  // MARK: Discarding

  @Test(.holds("Discarding"))
  func `nothing is discarded before the journal knows that it has left`() async throws {
    let history = try await UseCaseHistory.open(disk, paper, limit: 1)
    await history.write(paper, "A")
    // The end of B is written again, if the first attempt is over before the operation asks for it.
    disk.fail(.full(from: disk.writes + 2, count: 100, isWritten: false))
    await history.write(paper, "B")
    #expect(paper.discarded == [])
    disk.fail(.none)
    await history.write(paper, "C")
    #expect(paper.discarded == ["A1 evicted", "B2 evicted"])
  }

  @Test(.holds("Discarding"))
  func `what was not discarded for certain is discarded again`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A", "B")
    // The clear is written, what was discarded is not.
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    history.clear()
    await history.idle()
    #expect(paper.discarded == ["A1 cleared", "B2 cleared"])
    let second = disk.next()
    await (try await UseCaseHistory.open(second, paper)).idle()
    #expect(paper.discarded.count == 4)
    _ = try await UseCaseHistory.open(second.next(), paper)
    #expect(paper.discarded.count == 4)
  }

  @Test(.holds("Discarding"))
  func `what cannot be read when it leaves is discarded by the next who can`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: [Letters(paper: paper)])
    other.clear()
    await other.idle()
    #expect(paper.discarded == [])
    let third = second.next()
    _ = try await UseCaseHistory.open(third, for: [Letters(paper: paper)])
    let fourth = third.next()
    await (try await UseCaseHistory.open(fourth, paper)).idle()
    #expect(paper.discarded == ["A1 cleared"])
    _ = try await UseCaseHistory.open(fourth.next(), paper)
    #expect(paper.discarded == ["A1 cleared"])
  }

  @Test(.holds("Discarding"))
  func `what is in doubt and unreadable is discarded by the next who can read it`() async throws {
    struct Count: JournaledUseCase {
      static let journalName = Write.journalName
      func main(_ text: String) async throws -> Int { text.count }
      func undo(_: String, _: Int) async throws {}
    }
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.back(1)
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: [Count()])
    #expect(other.entries.map(\.standing) == [.unreadable])
    other.clear()
    await other.idle()
    #expect(paper.discarded == [])
    let third = second.next()
    await (try await UseCaseHistory.open(third, paper)).idle()
    #expect(paper.discarded == ["A1 cleared"])
    _ = try await UseCaseHistory.open(third.next(), paper)
    #expect(paper.discarded == ["A1 cleared"])
  }

  @Test(.holds("Discarding"))
  func `an execution in doubt that leaves has no pair to discard`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    paper.settle(by: .unknown)
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, paper)
    #expect(other.entries.map(\.standing) == [.inDoubt])
    #expect(second.names("write"))
    other.clear()
    await other.idle()
    let third = second.next()
    _ = try await UseCaseHistory.open(third, paper)
    #expect(!third.names("write"))
    #expect(paper.discarded == [])
  }

  @Test(.holds("Discarding"))
  func `a pair whose response could not be encoded is discarded at once or never`() async throws {
    let asking = Asking(discarded: Log())
    let history = try await UseCaseHistory.open(disk, for: [asking])
    for _ in 1...2 { await history.execute(asking, false).ended() }
    history.forget(try #require(history.entries.last?.id))
    await history.idle()
    #expect(asking.discarded.elements == [false])
    let second = disk.next()
    let other = try await UseCaseHistory.open(second, for: [asking])
    #expect(other.entries.map(\.standing) == [.unreadable])
    other.clear()
    await other.idle()
    let third = second.next()
    _ = try await UseCaseHistory.open(third, for: [asking])
    #expect(!third.names("ask"))
    #expect(asking.discarded.elements == [false])
  }

  // MARK: Size

  @Test func `a journal that cannot be written is released with its history`() async throws {
    weak var released: Disk?
    do {
      let (disk, paper) = (Disk(), Paper())
      released = disk
      let history = try await UseCaseHistory.open(disk, paper)
      paper.live(with: Disk())
      await history.write(paper, "A")
      disk.fail(.full(from: disk.writes + 1, count: .max / 2, isWritten: false))
      history.clear()
      await history.idle()
      #expect(history.journalError != nil)
    }
    while released != nil {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(.holds("Discarding"))
  func `a history is idle when the journal knows what is discarded`() async throws {
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A", "B")
    disk.watch { _ in for _ in 1...100 { await Task.yield() } }
    history.clear()
    await history.idle()
    _ = try await UseCaseHistory.open(disk.next(), paper)
    #expect(paper.discarded.count == 2)
  }

  @Test func `a journal that cannot be written anew goes on`() async throws {
    let history = try await UseCaseHistory.open(disk, paper, limit: 2)
    disk.watch { [disk] number in
      // Each write of all fails.
      disk.fail(disk.bytes > 4_000 ? .full(from: number, count: 1, isWritten: false) : .none)
    }
    for _ in 0..<60 { await history.write(paper, "A") }
    disk.watch { _ in }
    disk.fail(.none)
    await history.write(paper, "B")
    #expect(history.journalError == nil)
    #expect(try await UseCaseHistory.open(disk.next(), paper).layout == history.layout)
  }

}

private struct Asking: JournaledUseCase {
  /// Cannot be encoded unless it is whole.
  struct Reply: Codable, Sendable {
    enum CodingKeys: CodingKey { case isWhole }
    let isWhole: Bool

    func encode(to encoder: any Encoder) throws {
      guard isWhole else { throw Failure("encode") }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(isWhole, forKey: .isWhole)
    }
  }

  static let journalName = "ask"
  let discarded: Log<Bool>

  func main(_ isWhole: Bool) async throws -> Reply { Reply(isWhole: isWhole) }
  func undo(_: Bool, _: Reply) async throws {}

  func discard(_ isWhole: Bool, _: Reply, _: HistoryDiscardReason) { discarded.append(isWhole) }
}

extension Disk {
  /// Whether an execution of this use case is in it.
  fileprivate func names(_ useCase: String) -> Bool {
    rows.rows.values.contains { String(decoding: $0, as: UTF8.self).contains(useCase) }
  }
}
