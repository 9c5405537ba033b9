import UseCase
import UseCaseHistory

/// A person to be added.
package struct Person: Codable, Hashable, Sendable {
  package let name: String
  package let mail: String

  package init(name: String, mail: String) { (self.name, self.mail) = (name, mail) }
}

/// A person in the book.
package struct Contact: Codable, Hashable, Sendable {
  package let id: Int64
  package let person: Person
}

/// Adds people, all of them or none.
struct Add: JournaledUseCase {
  static let journalName = "add"
  let database: Database

  func main(_ people: [Person]) async throws -> [Int64] {
    var ids: [Int64] = []
    for person in people { ids.append(try await database.insert(person)) }
    return ids
  }

  func undo(_: [Person], _ ids: [Int64]) async throws {
    for id in ids { try await database.delete(id) }
  }

  // With the same ids: later entries name them.
  func redo(_ people: [Person], _ ids: [Int64]) async throws -> [Int64] {
    for (id, person) in zip(ids, people) {
      try await database.insert(Contact(id: id, person: person))
    }
    return ids
  }

  func title(for people: [Person]) -> String {
    people.count == 1 ? "Add \(people[0].name)" : "Add \(people.count) people"
  }

  func footprint(of _: [Person], _ ids: [Int64]) -> HistoryFootprint { .keys(ids) }
}

/// Changes the name of one.
struct Rename: JournaledUseCase {
  struct Request: Codable, Sendable {
    let id: Int64
    let name: String
  }

  static let journalName = "rename"
  let database: Database

  /// Returns the name before.
  func main(_ request: Request) async throws -> String {
    let old = try await database.contact(request.id)
    try await database.update(old, name: request.name)
    return old.person.name
  }

  func undo(_ request: Request, _ oldName: String) async throws {
    try await database.update(try await database.contact(request.id), name: oldName)
  }

  func title(for request: Request) -> String { "Rename to \(request.name)" }
  func footprint(of request: Request) -> HistoryFootprint? { .keys(request.id) }
}

/// Makes one of two: the first stays, with what it lacks from the second.
struct Merge: JournaledUseCase {
  struct Request: Codable, Sendable {
    let kept: Int64
    let gone: Int64
  }

  static let journalName = "merge"
  let database: Database

  /// Returns both as they were.
  func main(_ request: Request) async throws -> [Contact] {
    let kept = try await database.contact(request.kept)
    let gone = try await database.contact(request.gone)
    guard kept.id != gone.id else { throw BookError("\(kept.id) cannot merge with itself.") }
    try await database.delete(gone.id)
    if kept.person.mail.isEmpty { try await database.update(kept, mail: gone.person.mail) }
    return [kept, gone]
  }

  func undo(_: Request, _ before: [Contact]) async throws {
    try await database.delete(before[0].id)
    for contact in before { try await database.insert(contact) }
  }

  func title(for request: Request) -> String { "Merge \(request.gone) into \(request.kept)" }
  func footprint(of request: Request) -> HistoryFootprint? { .keys(request.kept, request.gone) }
}

/// An error in words for the user.
package struct BookError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

extension Database {
  func insert(_ person: Person) async throws -> Int64 {
    try await run(
      "INSERT INTO contact (name, mail) VALUES (?, ?) RETURNING id", .text(person.name),
      .text(person.mail))[0].integer(0)
  }

  func insert(_ contact: Contact) async throws {
    let (name, mail) = (contact.person.name, contact.person.mail)
    try await run(
      "INSERT INTO contact (id, name, mail) VALUES (?, ?, ?)", .integer(contact.id), .text(name),
      .text(mail))
  }

  func delete(_ id: Int64) async throws {
    try await run("DELETE FROM contact WHERE id = ?", .integer(id))
  }

  func update(_ contact: Contact, name: String? = nil, mail: String? = nil) async throws {
    try await run(
      "UPDATE contact SET name = ?, mail = ? WHERE id = ?", .text(name ?? contact.person.name),
      .text(mail ?? contact.person.mail), .integer(contact.id))
  }

  func contact(_ id: Int64) async throws -> Contact {
    let rows = try await run("SELECT id, name, mail FROM contact WHERE id = ?", .integer(id))
    guard let row = rows.first else { throw BookError("There is no contact \(id).") }
    return try contact(row)
  }

  func contacts() async throws -> [Contact] {
    try await run("SELECT id, name, mail FROM contact ORDER BY id").map { try contact($0) }
  }

  private func contact(_ row: Row) throws -> Contact {
    Contact(id: try row.integer(0), person: Person(name: try row.text(1), mail: try row.text(2)))
  }
}
