import ContactBook
import Foundation
import UseCase
import UseCaseHistory

/// A command of the user.
enum Command {
  case help, list, history, undo, redo
  case add(Person)
  case importPeople(file: String)
  case rename(Int64, String)
  case merge(Int64, into: Int64)
  case undoEntry(Int)

  static let helpText = """
    contacts: an address book whose undo pool is in its database.

    contacts [--file FILE] COMMAND

      list                     all contacts, with their numbers
      add NAME [MAIL]          add a contact
      import FILE              add the contacts of a CSV file, with a name and a mail in each line
      rename NUMBER NAME       give a contact another name
      merge NUMBER INTO        make one contact of two: the second stays
      undo                     undo the newest step
      undo STEP                undo this step, if no later one builds on it
      redo                     redo the step that was undone last
      history                  all steps, with their numbers; > is the newest that is not undone

    Without a command, it runs those of its input, one a line. The book is in FILE, by default
    ~/.contacts.sqlite. Each step and its undo are in one transaction: kill it whenever you like.
    """

  init(_ words: [String]) throws {
    let arguments = Array(words.dropFirst())
    func number(_ index: Int) throws -> Int64 {
      guard let number = Int64(arguments[index]) else {
        throw BookError("‘\(arguments[index])’ is no number.")
      }
      return number
    }
    self =
      switch (words[0], arguments.count) {
      case ("--help", _), ("-h", _), ("help", _): .help
      case ("list", 0): .list
      case ("history", 0): .history
      case ("add", 1): .add(Person(name: arguments[0], mail: ""))
      case ("add", 2): .add(Person(name: arguments[0], mail: arguments[1]))
      case ("import", 1): .importPeople(file: arguments[0])
      case ("rename", 2...): .rename(try number(0), arguments.dropFirst().joined(separator: " "))
      case ("merge", 2): .merge(try number(0), into: try number(1))
      case ("undo", 0): .undo
      case ("undo", 1): .undoEntry(Int(clamping: try number(0)))
      case ("redo", 0): .redo
      default: throw BookError("‘\(words.joined(separator: " "))’ is no command: see --help.")
      }
  }

  /// Splits a line at spaces, except in quotation marks.
  static func words(_ line: String) throws -> [String] {
    let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count.isMultiple(of: 2) == false else {
      throw BookError("A quotation mark is missing.")
    }
    return parts.enumerated().flatMap { index, part in
      index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
    }
  }

  /// Returns the lines of the answer.
  func run(
    in book: Book, progress: @escaping @Sendable (String) -> Void
  ) async throws -> [String] {
    switch self {
    case .help: return [Self.helpText]
    case .list: return try await book.contacts.map(Self.line)
    case .history: return Self.steps(book)
    case .add(let person): return ["Added \(try await book.add(person))."]
    case .importPeople(let file):
      let people = try Self.people(file)
      try await book.import(people) { progress("\($0) of \(people.count)") }
      return ["Imported \(people.count)."]
    case .rename(let id, let name):
      try await book.rename(id, to: name)
      return ["Renamed."]
    case .merge(let gone, let kept):
      try await book.merge(gone, into: kept)
      return ["Merged."]
    case .undo: return Self.moved("Undone", try await book.history.undo().value)
    case .redo: return Self.moved("Redone", try await book.history.redo().value)
    case .undoEntry(let number):
      let entries = book.history.entries
      guard number > 0, entries.indices.contains(number - 1) else {
        throw BookError("There is no step \(number): see history.")
      }
      return Self.moved("Undone", try await book.history.undo(entries[number - 1].id).value)
    }
  }

  private static func line(_ contact: Contact) -> String {
    let mail = contact.person.mail.isEmpty ? "" : " <\(contact.person.mail)>"
    return "\(contact.id)  \(contact.person.name)\(mail)"
  }

  private static func steps(_ book: Book) -> [String] {
    let entries = book.history.entries
    let newest = entries.lastIndex { $0.isApplied }
    return entries.enumerated().map { index, entry in
      "\(index == newest ? ">" : " ") \(index + 1)  \(entry.title)"
        + (entry.isApplied ? "" : " (undone)")
    }
  }

  private static func moved(_ verb: String, _ entry: HistoryEntry?) -> [String] {
    [entry.map { "\(verb): \($0.title)." } ?? "There is nothing to do."]
  }

  private static func people(_ file: String) throws -> [Person] {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw BookError("\(file) cannot be read.")
    }
    return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).map { line in
      let cells = line.split(separator: ",", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      return Person(name: cells.first ?? "", mail: cells.count > 1 ? cells[1] : "")
    }
  }
}
