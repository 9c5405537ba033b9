import Testing
import UseCase
import UseCaseHistory

@testable import ContactBook

struct BookTests {
  private let ada = Person(name: "Ada", mail: "ada@example.org")
  private let bob = Person(name: "Bob", mail: "")

  @Test func `each step can be undone and redone`() async throws {
    let book = try await Book(":memory:")
    try await book.add(ada)
    try await book.add(bob)
    try await book.rename(2, to: "Robert")
    try await book.merge(1, into: 2)
    #expect(try await book.contacts.map(\.person) == [Person(name: "Robert", mail: ada.mail)])
    var states = [try await book.contacts]
    while let _ = try await book.history.undo().value { states.append(try await book.contacts) }
    #expect(states.last == [])
    while let _ = try await book.history.redo().value {
      states.removeLast()
      #expect(try await book.contacts == states.last)
    }
    #expect(states.count == 1)
  }

  @Test func `a step is undone wherever it is, unless a later one builds on it`() async throws {
    let book = try await Book(":memory:")
    for person in [ada, bob] { try await book.add(person) }
    try await book.rename(2, to: "Robert")
    let ids = book.history.entries.map(\.id)
    await #expect(throws: HistoryError.blocked(by: [ids[2]])) {
      _ = try await book.history.undo(ids[1]).value
    }
    _ = try await book.history.undo(ids[0]).value
    #expect(try await book.contacts.map(\.person.name) == ["Robert"])
  }

  @Test func `an import is one step, and says how far it has come`() async throws {
    let book = try await Book(":memory:")
    let people = (1...250).map { Person(name: "P\($0)", mail: "") }
    let (counts, progress) = AsyncStream.makeStream(of: Int.self)
    try await book.import(people) { progress.yield($0) }
    progress.finish()
    #expect(await counts.reduce(into: []) { $0.append($1) } == [100, 200, 250])
    #expect(book.history.entries.map(\.title) == ["Import 250 people"])
    _ = try await book.history.undo().value
    #expect(try await book.contacts == [])
  }

  @Test func `a step that fails changes nothing`() async throws {
    let book = try await Book(":memory:")
    try await book.add(ada)
    await #expect(throws: BookError.self) { try await book.merge(7, into: 1) }
    await #expect(throws: BookError.self) { try await book.merge(1, into: 1) }
    await #expect(throws: BookError.self) { try await book.rename(7, to: "X") }
    #expect(try await book.contacts.map(\.person) == [ada])
    #expect(book.history.entries.count == 1)
  }
}
