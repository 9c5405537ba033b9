/// An error of the journal of a history, in a sentence, with its cause.
public struct HistoryJournalError: Error, CustomStringConvertible {
  /// A fault of a journal.
  public enum Reason: Hashable, Sendable {
    /// The use case with this name is not a ``JournaledUseCase``, or was not given to
    /// ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:)``. Nothing ran.
    case notJournaled(String)

    /// Two use cases have this name.
    case duplicateName(String)

    /// No use case that was given to `open` can read the entry. The name is that of its use case.
    case unreadable(String)

    /// The journal is damaged before its end, and has been left as it is. The offset counts the bytes
    /// of a file; it is the number of a record if there is no file.
    case damaged(offset: Int)

    /// The file is not a journal, or one of a version that is not known here. It has been left as it is.
    case foreign

    /// Another process, or another object, has the journal open.
    case inUse

    /// It cannot be read.
    case cannotRead

    /// It cannot be written: what has been asked for did not run, or is not in the journal yet.
    case cannotWrite

    /// It was closed.
    case closed
  }

  /// The fault.
  public let reason: Reason

  /// Which journal, such as the path of a file. Empty if it has no name.
  public let journal: String

  /// The error below, such as that of the system.
  public let cause: (any Error)?

  /// Creates an error, for a journal of your own.
  ///
  /// - Parameters:
  ///   - reason: What is wrong.
  ///   - journal: Which journal.
  ///   - cause: The error below.
  public init(_ reason: Reason, journal: String = "", cause: (any Error)? = nil) {
    self.reason = reason
    self.journal = journal
    self.cause = cause
  }

  /// The error itself, if it is one of a journal already.
  init(_ reason: Reason, for error: any Error) {
    self = error as? Self ?? Self(reason, cause: error)
  }

  /// A sentence for a person, with the cause.
  public var description: String { sentence + (cause.map { " (\($0))" } ?? "") }

  private var sentence: String {
    let name = journal.isEmpty ? "the journal" : "the journal \(journal)"
    return switch reason {
    case .notJournaled(let useCase):
      "“\(useCase)” is not recorded in a journal: make it a JournaledUseCase, and give it to open."
    case .duplicateName(let useCase):
      "Two use cases have the journal name “\(useCase)”: give each its own."
    case .unreadable(let useCase):
      "This step of “\(useCase)” was recorded by another version of the app and cannot be read. "
        + "Forget it to go on."
    case .damaged(let offset):
      "At \(offset), \(name) is damaged. It has been left as it is: move it away, or restore a copy."
    case .foreign:
      "The file is not \(name), or was written by a newer version of the app. It has been left as it "
        + "is."
    case .inUse: "Another process has \(name) open."
    case .cannotRead: "It is impossible to read \(name)."
    case .cannotWrite: "It is impossible to write \(name)."
    case .closed: "Somebody has closed \(name)."
    }
  }
}
