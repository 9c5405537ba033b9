/// An error of the journal of a history.
public struct HistoryJournalError: Error, CustomStringConvertible {
  /// Why a history can't use a journal.
  public enum Reason: Hashable, Sendable {
    /// The use case with this name is not a ``JournaledUseCase``, or was not given to
    /// ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:observer:)``. Nothing ran.
    case notJournaled(String)

    /// Two use cases have this name, or one has it and the other one had it.
    case duplicateName(String)

    /// No use case that was given to `open` can read the entry. The name is that of its use case.
    case unreadable(String)

    /// The end of the process has left it open whether the entry took effect. It can be neither
    /// undone nor redone. Remove it with ``UseCaseHistory/forget(_:)``.
    case inDoubt

    /// The journal is damaged, and was left unchanged. A last change that was only partly written
    /// is no damage.
    ///
    /// If the bytes of a file are damaged, the offset is their position. If the bytes can be read,
    /// but a row makes no sense, the offset is the key of the row.
    case damaged(offset: Int)

    /// The file is not a journal, or was written in another format or version. It was left
    /// unchanged.
    case foreign

    /// Another process, another object or another history has the journal open.
    case inUse

    /// The journal can't be read.
    case cannotRead

    /// The journal can't be written. The execution, undo or redo may not have run. If it ran, it
    /// isn't in the journal yet.
    case cannotWrite

    /// Another history has written to the journal since this one was opened. Nothing was changed:
    /// open the history again.
    case stale

    /// The journal was moved, deleted or replaced while it was open. The next launch would not find
    /// what is written now, so nothing is.
    case moved

    /// The journal was closed.
    case closed
  }

  /// Why the history can't use the journal.
  public let reason: Reason

  /// The name of the journal, such as the path of a file. Empty if it has none.
  public let journal: String

  /// The underlying error, such as a system error, if there is one.
  public let cause: (any Error)?

  /// Creates an error, for a journal of your own.
  ///
  /// - Parameters:
  ///   - reason: Why the history can't use the journal.
  ///   - journal: The name of the journal.
  ///   - cause: The underlying error.
  public init(_ reason: Reason, journal: String = "", cause: (any Error)? = nil) {
    self.reason = reason
    self.journal = journal
    self.cause = cause
  }

  /// The error itself, if it is one of a journal already.
  init(_ reason: Reason, for error: any Error) {
    self = error as? Self ?? Self(reason, cause: error)
  }

  /// Sentences with the cause. The sentences for `notJournaled` and `duplicateName` are for the
  /// programmer, the other sentences for a user.
  public var description: String { sentence + (cause.map { " (\($0))" } ?? "") }

  private var sentence: String {
    let name = journal.isEmpty ? "journal" : "journal \(journal)"
    return switch reason {
    case .notJournaled(let useCase):
      "“\(useCase)” cannot be recorded in a journal. Conform it to JournaledUseCase, and pass it "
        + "to UseCaseHistory.open."
    case .duplicateName(let useCase):
      "Two use cases have the journal name “\(useCase)”: give each its own."
    case .unreadable(let useCase):
      "This step of “\(useCase)” cannot be read by this version of the app. Remove it from the "
        + "history to go on."
    case .inDoubt:
      "It is not known whether this step took effect before the app ended. Remove it from the "
        + "history to go on."
    case .damaged(let offset):
      "The \(name) is damaged at offset \(offset). It was left unchanged: move it away, or "
        + "restore a copy."
    case .foreign:
      "The file \(journal.isEmpty ? "" : "\(journal) ")is not a journal, or was written by another "
        + "version of the app. It was left unchanged."
    case .inUse: "The \(name) is already open."
    case .cannotRead: "It is impossible to read the \(name)."
    case .cannotWrite: "It is impossible to write the \(name)."
    case .stale:
      "Another history has written to the \(name). Nothing was changed: open the history again."
    case .moved:
      "The \(name) was moved, deleted or replaced while it was open. The file that is there now was "
        + "left unchanged."
    case .closed: "The \(name) was closed."
    }
  }
}
