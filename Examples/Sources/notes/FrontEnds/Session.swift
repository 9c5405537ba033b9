import Foundation
import NotesWire
import UseCase
import UseCaseHistory

/// Where a front end shows what has become of a command.
@MainActor
protocol Output: AnyObject {
  /// Takes what was known before the server has answered, and returns whether it is shown now.
  func show(known lines: [String]) -> Bool
  func show(_ lines: [String])
  func show(progress: String)
  func show(failure: String)
}

/// Carries out commands, one at a time, for either front end.
@MainActor
final class Session {
  private let notes: Notes
  private let trouble: Trouble
  private unowned let output: any Output
  private var cancelRunning: (() -> Void)?

  /// How the present command found everything, and whether it has failed.
  private var entries: [HistoryEntry] = []
  private var shown: Note?
  private var hasFailed = false

  init(_ notes: Notes, trouble: Trouble, output: any Output) {
    self.notes = notes
    self.trouble = trouble
    self.output = output
  }

  /// Returns whether there was something to cancel. It ends as soon as it can.
  func cancel() -> Bool {
    cancelRunning?()
    return cancelRunning != nil
  }

  /// Returns whether it has succeeded, when it is over.
  func perform(_ command: Command) async -> Bool {
    let history = notes.history
    (entries, shown, hasFailed) = (history.entries, notes.desk.note, false)
    switch command {
    case .list:
      var known: [Note]?
      let list = notes.list.execute(()) { [output] notes in
        if output.show(known: Words.list(notes)) { known = notes }
      }
      list.then { [output] notes in
        let list = (known == nil ? [] : ["By now:"]) + Words.list(notes)
        output.show(notes == known ? ["Up to date."] : list)
      }
      await run(list)
    case .show(let id):
      await run(notes.show.execute(id).then { self.output.show(Words.note($0.note)) })
    case .new(let text):
      await run(notes.new.execute(notes.paper.note(text)).then { self.tell("Made", $0.after) })
    case .edit(let id, let text):
      let edit = notes.edit.execute(EditNote.Request(id: id, text: text))
      await run(edit.then { self.tell("Changed", $0.after) })
    case .remove(let id):
      await run(
        notes.remove.execute(id).then { change in
          self.tell("Removed", change.before)
          if let note = change.before { self.output.show(["Back with: restore \(note.id)"]) }
        })
    case .restore(let id):
      await restore(id)
    case .type(let ids, let text):
      let type = notes.type.execute(TypeText.Request(ids: ids, text: text))
      await run(
        type.then { saved in
          for saved in saved { self.tell("Saved \(saved.count) of \(text.count)", saved.note) }
        })
    case .rows(let ids):
      let loads = notes.rows.load.queue
      let before = loads.activity.executed
      let rows = notes.rows.execute(ids)
      await run(
        rows.then { rows in
          let count = loads.activity.executed - before
          self.output.show(rows.map { Words.line($0) } + ["Rows: \(rows.count), loads: \(count)"])
        })
    case .importFile(let path):
      await importFile(path)
    case .logIn(let token):
      await run(
        notes.logIn.execute(token).then { self.output.show(["Logged in."] + Words.list($0)) })
    case .undo:
      await move(history.undo(), "Undone", "Nothing to undo.")
    case .redo:
      await move(history.redo(), "Redone", "Nothing to redo.")
    case .history:
      output.show(Words.history(history.entries))
    case .forget:
      history.clear()
      output.show(["The history is empty. The notes are as they were."])
    case .offline(let isOffline):
      trouble.change { $0.isOffline = isOffline }
    case .latency(let milliseconds):
      trouble.change { $0.latency = .milliseconds(milliseconds) }
    case .fail(let count):
      trouble.change { $0.failures = count }
    case .help:
      output.show([Words.help])
    case .quit:
      break
    }
    notes.notebook.cache.save()
    return !hasFailed
  }

  /// Waits for the end of an operation, and tells what is no success: that is the same for all.
  private func run<Request, Response>(_ operation: UseCaseOperation<Request, Response>) async {
    operation
      .catch { self.fail(Words.failure($0)) }
      .onCancel { _ in self.output.show(progress: "Stopping") }
    cancelRunning = { operation.cancel() }
    let outcome = await operation.ended()
    cancelRunning = nil

    let after = notes.history.entries
    if case .cancelled = outcome {
      // A change that was on its way to the server has been made all the same.
      let made = after.last { !entries.contains($0) }
      let words = made.map { ($0.isApplied ? " In the history: " : " Undone: ") + Words.entry($0) }
      fail("Stopped." + (words ?? ""))
    }
    let dropped = entries.count { !$0.isApplied && !after.map(\.id).contains($0.id) }
    if dropped > 0 { output.show(["Dropped what was undone: \(dropped)"]) }
  }

  /// Undoes the newest removal of the note, whatever has been done since.
  private func restore(_ id: String) async {
    let removal = notes.history.entries.last { entry in
      guard entry.isApplied,
        let execution = notes.history.execution(entry.id, by: RemoveNote.self)
      else { return false }
      return execution.response.before?.id.hasPrefix(id) == true
    }
    guard let removal else { return fail("No such note was removed: \(Words.printable(id))") }
    await move(notes.history.undo(removal.id), "Undone", "It is back already.")
  }

  private func importFile(_ path: String) async {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return fail("Cannot read \(Words.printable(path)), or it is not UTF-8.")
    }
    let lines = text.split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    let name = URL(filePath: path).lastPathComponent
    let importing = notes.importNotes.execute(.init(name: name, texts: lines)) { [output] update in
      output.show(progress: Words.progress(update))
    }
    importing.then { response in
      if let failure = response.failure {
        self.fail("\(Words.failure(failure)) Imported before: \(response.done)")
      } else {
        self.output.show(["Imported: \(response.done)"])
      }
    }
    await run(importing)
  }

  private func tell(_ what: String, _ note: Note?) {
    guard let note else { return }
    output.show(["\(what): \(Words.line(note))"])
  }

  private func move(
    _ move: UseCaseOperation<HistoryMove, HistoryEntry?>, _ what: String, _ otherwise: String
  ) async {
    move.then { entry in
      self.output.show([entry.map { "\(what): \(Words.entry($0))" } ?? otherwise])
      if let note = self.notes.desk.note, note != self.shown { self.output.show(Words.note(note)) }
    }
    await run(move)
  }

  private func fail(_ words: String) {
    hasFailed = true
    output.show(failure: words)
  }
}
