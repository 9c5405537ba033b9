import UseCase
import UseCaseHistory

/// The line of text, and all that can be done to it and undone.
@MainActor
final class Editor {
  enum Command: Hashable, Sendable {
    case insert(String)
    case delete(Range<Int>)
    case moveCaret(to: Int)
    case toggleLock
    case undo, redo
    case replaceAll(String, by: String)
    case save
  }

  let document: Document
  let history: UseCaseHistory
  let saveText: SaveText?
  private let insertText: RecordedUseCase<InsertText>
  private let deleteText: RecordedUseCase<DeleteText>
  private var save: UseCaseOperation<String, Void>?

  /// Hears what became of a command, in words for the person who gave it.
  var onMessage: (String) -> Void = { _ in }

  init(file: TextFile?) throws(Failure) {
    document = Document(TextLine(try file?.read() ?? ""))
    // Words and moves of the caret decide what merges, and not how fast somebody types.
    history = UseCaseHistory(limit: 200, mergeWindow: .seconds(86_400))
    insertText = InsertText(document: document).recorded(in: history)
    deleteText = DeleteText(document: document).recorded(in: history)
    saveText = file.map { SaveText(file: $0) }
  }

  /// Whether nothing would be lost. Without a file there is nothing to save.
  var isSaved: Bool { saveText == nil || history.state.isClean }

  /// Does what a person asks for. It returns when the line has changed, because the next command
  /// means the line as this one leaves it; a save goes on by itself.
  func perform(_ command: Command) async {
    let line = document.line
    switch command {
    case .insert(let text):
      await insertText.execute(Snippet(text: text, place: line.caret))
        .catch { error in self.onMessage("Not inserted: \(error)") }
        .ended()
    case .delete(let range):
      await deleteText.execute(Snippet(text: line.text(in: range), place: range.lowerBound))
        .catch { error in self.onMessage("Not deleted: \(error)") }
        .ended()
    case .moveCaret(let place):
      document.change { $0.moveCaret(to: place) }
    case .toggleLock:
      document.change { $0.isLocked.toggle() }
      onMessage(line.isLocked ? "The line is unlocked" : "The line is locked")
    case .undo:
      await history.undo()
        .then { entry in self.onMessage(entry.map { "Undone: \($0.title)" } ?? "Nothing to undo") }
        .catch { error in self.onMessage("Not undone: \(error)") }
        .ended()
    case .redo:
      await history.redo()
        .then { entry in self.onMessage(entry.map { "Redone: \($0.title)" } ?? "Nothing to redo") }
        .catch { error in self.onMessage("Not redone: \(error)") }
        .ended()
    case .replaceAll(let old, let new):
      await replaceAll(old, by: new)
    case .save:
      executeSave()
    }
  }

  /// Ends the word, so that what is typed next becomes an entry of its own.
  func endWord() {
    history.breakMerging()
  }

  /// Returns when what is being saved is saved.
  func settled() async {
    await save?.ended()
  }

  /// One group is one entry: one undo brings all places back.
  private func replaceAll(_ old: String, by new: String) async {
    let replacing = history.group("Replace “\(old)” by “\(new)”") {
      [document, insertText, deleteText] in
      let places = document.line.snippets(of: old)
      // From right to left: a change moves what stands behind it.
      for place in places.reversed() {
        try await deleteText(place)
        try await insertText(Snippet(text: new, place: place.place))
      }
      return places.count
    }
    await replacing
      .then { count in
        self.onMessage(count == 0 ? "There is no “\(old)”" : "Places replaced: \(count)")
      }
      .catch { error in self.onMessage("Not replaced: \(error)") }
      .ended()
  }

  private func executeSave() {
    guard let saveText else { return onMessage("Nowhere to save: start with --file FILE") }
    // Text that is typed while the file is being written is not saved.
    let point = history.savePoint()
    save = saveText.execute(document.line.text)
      .then {
        self.history.markSaved(point)
        self.onMessage("Saved")
      }
      .catch { error in self.onMessage("Not saved: \(error)") }
  }
}
