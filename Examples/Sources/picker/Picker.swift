import UseCase
import UseCaseHistory

/// The app: takes keys, executes use cases, and keeps the state that the screen shows.
@MainActor
final class Picker {
  private(set) var state: PickerState
  private(set) var hasQuit = false

  let editor: Editor
  let searches = UseCaseQueue(.cancelPrevious)
  private var building: UseCaseOperation<Void, CharacterIndex>?
  private var searchCharacters: SearchCharacters?
  private(set) var search: UseCaseOperation<String, [Unicode.Scalar]>?
  private let onChange: (PickerState) -> Void

  /// `onChange` hears of each change of the state.
  init(size: TerminalSize, editor: Editor, onChange: @escaping (PickerState) -> Void) {
    state = PickerState(size: size)
    self.editor = editor
    self.onChange = onChange
    editor.onMessage = { [weak self] message in
      self?.state.message = message
      self?.changed()
    }
  }

  /// Builds the index. Who types meanwhile is answered when it is there.
  func start() {
    building = BuildIndex()
      .execute(()) { percent in
        self.state.progress = percent
        self.changed()
      }
      .then { index in
        self.searchCharacters = SearchCharacters(index: index, queue: self.searches)
        self.state.progress = nil
        self.executeSearch()
        self.changed()
      }
  }

  /// Returns when the line has changed, if the key changes it. Nobody waits for a search.
  func press(_ key: Key) async {
    let isTyping = key.isTyping && state.focus == .text
    if !isTyping { editor.endWord() }
    switch state.press(key) {
    case .none: break
    case .search: executeSearch()
    case .edit(let command): await editor.perform(command)
    case .quit: hasQuit = true
    }
    changed()
  }

  func resize(to size: TerminalSize) {
    state.size = size
    changed()
  }

  /// Presses keys faster than any search can start.
  func burst(_ keys: [Key]) async {
    searches.suspend()
    for key in keys { await press(key) }
    searches.resume()
  }

  /// Returns when the index is there, and all searches and saves have ended.
  func settled() async {
    await building?.ended()
    await search?.ended()
    await searches.idle()
    await editor.settled()
    changed()
  }

  private func executeSearch() {
    search = searchCharacters?.execute(state.query)
      .then { self.state.results = $0 }
      .finally { self.changed() }
  }

  private func changed() {
    let activity = searches.activity
    state.work = PickerState.Work(
      executed: activity.executed, superseded: activity.cancelled, running: activity.running)
    let entries = editor.history.entries
    state.line = editor.document.line
    state.isSaved = editor.isSaved
    state.applied = entries.filter(\.isApplied).map(\.title)
    state.undone = entries.filter { !$0.isApplied }.map(\.title)
    onChange(state)
  }
}

extension Key {
  /// Whether the key types in a text or erases there: what such keys do in a row is one change.
  fileprivate var isTyping: Bool {
    switch self {
    case .character, .backspace, .delete: true
    default: false
    }
  }
}
