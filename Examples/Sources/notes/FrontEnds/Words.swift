import Foundation
import NotesWire
import UseCase
import UseCaseHistory

/// The words of both front ends.
enum Words {
  static func list(_ notes: [Note]) -> [String] {
    if notes.isEmpty { return ["There are no notes."] }
    // As much of the ids as tells each from the others.
    let ids = notes.map(\.id).sorted()
    let alike = zip(ids, ids.dropFirst()).map { $0.commonPrefix(with: $1).count }.max() ?? 0
    return notes.map { line($0, digits: max(4, alike + 1)) }
  }

  static func line(_ note: Note, digits: Int = 4) -> String {
    "\(note.id.prefix(digits))  \(printable(note.text, limit: 60))"
  }

  static func note(_ note: Note) -> [String] {
    let time = Date(timeIntervalSince1970: Double(note.created) / 1000).formatted(.iso8601)
    return ["\(note.id)  \(time)"] + note.text.split(separator: "\n").map { printable($0) }
  }

  static func history(_ entries: [HistoryEntry]) -> [String] {
    let applied = entries.filter(\.isApplied).map { "\($0.isPartial ? "◐" : "●") \(entry($0))" }
    let undone = entries.filter { !$0.isApplied }.map { "○ \(entry($0))" }
    return applied + ["─ now ─"] + undone
  }

  static func entry(_ entry: HistoryEntry) -> String {
    let title = printable(entry.title, limit: 60)
    switch entry.standing {
    case .normal: break
    case .inDoubt: return "\(title) (perhaps)"
    case .interrupted: return "\(title) (half done)"
    case .unreadable: return "\(title) (of another version)"
    }
    guard !entry.children.isEmpty else { return title }
    let applied = entry.children.count(where: \.isApplied)
    let count = entry.children.count
    return "\(title) (\(applied == count || applied == 0 ? "" : "\(applied) of ")\(count) notes)"
  }

  static func progress(_ update: ImportNotes.Update) -> String {
    let width = 20
    let bar = String(repeating: "#", count: width * update.done / update.total)
    let rest = String(repeating: " ", count: width - bar.count)
    return "Importing [\(bar)\(rest)] \(update.done) of \(update.total)"
  }

  static func failure(_ error: any Error) -> String {
    switch error {
    case NotesError.offline: "You are offline."
    case NotesError.unreachable: "The server cannot be reached."
    case NotesError.busy: "The server is too busy."
    case NotesError.notLoggedIn: "The server asks for a token: login TOKEN"
    case NotesError.notFound(let id): "There is no note \(printable(id))."
    case NotesError.ambiguous(let id): "Several ids begin with \(id): write more of it."
    case NotesError.changed: "Somebody else has changed the note: nothing was done."
    case NotesError.refused(let status, let words):
      "The server says \(status): \(printable(words))."
    case let error as HistoryObsolete:
      "\(error.cause.map(failure) ?? "It is gone.") It is no longer in the history."
    case let error as UseCaseTimeout:
      "No answer within \(error.duration.components.seconds) s. It may be done later: see list."
    default: "\(error)"
    }
  }

  /// A note may have been written by anybody: a terminal is not sent what might steer it.
  static func printable(_ text: some StringProtocol, limit: Int? = nil) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit ?? .max) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: scalars.append(" ")
      default: scalars.append(scalar)
      }
    }
    let isCut = limit.map { text.unicodeScalars.count > $0 } ?? false
    return String(scalars) + (isCut ? "…" : "")
  }

  static let help = """
    usage: notes [OPTION ...] [COMMAND]

    Keeps notes on a server. Without a command, commands are read from the keyboard.

      list               the notes that are known here, and then those of the server
      show ID            a note; the beginning of its id is enough
      new TEXT           make a note
      edit ID TEXT       give a note another text
      remove ID          remove a note
      restore ID         undo the removal of a note, also after other changes
      type ID,ID… TEXT   type a text into notes, and leave them. An autosave waits for a pause of
                         a second, at most for ten; leaving saves the last text at once. No step
                         of the history.
      rows ID ID…        a row for each; rows of one note share one load
      import FILE        make a note of each line, in one step of the history. Ctrl-C stops it,
                         and takes back what is imported by then.
      undo, redo         a new, edit, remove or import; and after a show, show the one before.
                         What fails can be tried again. What meets somebody else's change
                         leaves the history.
      history            what can be undone, and what can be redone
      forget             empty the history
      login TOKEN        show a token to a server that asks for one
      offline, online    be cut off from the server, and be connected again
      latency MS         wait so long before each request
      fail N             let the next N requests fail; each is tried four times
      help, quit

    Ctrl-C stops a command, and at the prompt it quits. The history is there again the next time; an
    import that was killed is taken back then.

      --server URL       use the server at this address. Without it, notes-server is started, for
                         as long as it is needed.
      --file FILE        keep the notes in FILE (~/.notes-example if there is no other), what is
                         known of them in FILE.cache, and the history in FILE.history
      --keep             keep what is there of an import that was killed, as a step
      --script FILE      read commands from FILE, and print each before what it does. It ends at
                         the first that fails, or does not fail though it begins with “!”.
      --timeout S        wait so many seconds for an answer, and not 10
      --latency MS, --fail-next N, --offline
                         begin as after `latency MS`, `fail N` or `offline`
      --kill-at N        end as if killed before the Nth request
      --seed N           make the same ids and times each time

    It ends with 0; with 1 if a command has failed; with 2 if it was not understood; with 130 after
    Ctrl-C.
    """
}
