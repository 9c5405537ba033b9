import UseCase
import UseCaseHistory

/// An error in words for the user.
struct BookError: Error, CustomStringConvertible { let description: String }

/// Adds a contact, and returns its id.
struct Add: JournaledUseCase {
  static let journalName = "add"
  let database: Database

  func main(_ name: String) async throws -> String {
    try await database.run("INSERT INTO contact (name) VALUES ($1) RETURNING id", name)[0][0]
  }

  func undo(_: String, _ id: String) async throws {
    try await database.one("DELETE FROM contact WHERE id = $1 RETURNING id", id)
  }

  // With the same id: later entries name it.
  func redo(_ name: String, _ id: String) async throws -> String {
    try await database.one("INSERT INTO contact (id, name) VALUES ($1, $2) RETURNING id", id, name)
  }

  func title(for name: String) -> String { "Add \(name)" }
  func footprint(of _: String, _ id: String) -> HistoryFootprint { .keys(id) }
}

/// Changes the name of a contact, and returns the name before.
struct Rename: JournaledUseCase {
  struct Request: Codable, Sendable {
    let id: String
    let name: String
  }

  static let journalName = "rename"
  let database: Database

  func main(_ request: Request) async throws -> String {
    let name = try await database.one("SELECT name FROM contact WHERE id = $1", request.id)
    try await database.run("UPDATE contact SET name = $2 WHERE id = $1", request.id, request.name)
    return name
  }

  func undo(_ request: Request, _ name: String) async throws {
    try await database.one(
      "UPDATE contact SET name = $2 WHERE id = $1 RETURNING id", request.id, name)
  }

  func title(for request: Request) -> String { "Rename to \(request.name)" }
  func footprint(of request: Request) -> HistoryFootprint? { .keys(request.id) }
}

extension Database {
  /// Runs a statement for one contact, and returns the first column of its row.
  @discardableResult
  func one(_ statement: String, _ id: String, _ more: String...) throws -> String {
    let rows = more.isEmpty ? try run(statement, id) : try run(statement, id, more[0])
    guard let row = rows.first else { throw BookError(description: "There is no contact \(id).") }
    return row[0]
  }
}
