/// All that a person sees and changes, as a plain value.
///
/// Keys go in, and what has to be done about them comes out: the ``Picker`` does it.
struct PickerState: Sendable {
  /// Where the keys go.
  enum Focus: Hashable, Sendable {
    case search
    case text
    /// Asks for the text that is to be replaced, and then for what takes its place.
    case replaced
    case replacement(of: String)
  }

  struct Work: Hashable, Sendable {
    var executed = 0
    var superseded = 0
    var running = 0
  }

  var size: TerminalSize
  private(set) var focus = Focus.search

  /// The error or the result of the last key.
  var message: String?

  // MARK: The search

  /// How much of the index is there, in per cent; nil once it is whole.
  var progress: Int? = 0

  private(set) var query = ""

  /// The results of the query; nil while nobody knows them. A new query starts without results,
  /// so those of an older one are never on the screen.
  var results: [Unicode.Scalar]?

  /// The place of the selected result.
  private(set) var selection = 0

  /// The work that the queue of the searches has done so far.
  var work = Work()

  // MARK: The text, as the editor has it

  var line = TextLine()
  var isSaved = true

  /// The titles of the history: the applied entries, and those that can be redone.
  var applied: [String] = []
  var undone: [String] = []

  /// The text typed so far as an answer to a question.
  private(set) var answer = ""

  init(size: TerminalSize) {
    self.size = size
  }

  /// The character that Return inserts.
  var selected: Unicode.Scalar? {
    guard let results, results.indices.contains(selection) else { return nil }
    return results[selection]
  }
}

// MARK: - Keys

extension PickerState {
  /// The effect of a key, beyond the change of the state itself.
  enum Effect: Hashable, Sendable {
    case none, search, quit
    case edit(Editor.Command)
  }

  mutating func press(_ key: Key) -> Effect {
    message = nil
    switch (key, focus) {
    case (.control("c"), _), (.control("d"), _): return .quit
    case (.control("z"), _): return .edit(.undo)
    case (.control("y"), _): return .edit(.redo)
    case (.control("s"), _): return .edit(.save)
    case (.control("l"), _): return .edit(.toggleLock)
    case (.control("r"), _): ask(.replaced)
    case (.invalid(let byte), _):
      message = "Not UTF-8: the byte \(String(byte, radix: 16, uppercase: true))"
    case (_, .search): return pressInSearch(key)
    case (_, .text): return pressInText(key)
    case (_, .replaced), (_, .replacement): return pressInQuestion(key)
    }
    return .none
  }

  private mutating func pressInSearch(_ key: Key) -> Effect {
    let page = Layout(size).results
    switch key {
    case .tab: focus = .text
    case .up: select(selection - 1)
    case .down: select(selection + 1)
    case .pageUp: select(selection - page)
    case .pageDown: select(selection + page)
    case .home: select(0)
    case .end: select(.max)
    case .escape: return search("")
    case .backspace where query.isEmpty: return pressInText(key)
    case .return:
      if let selected { return .edit(.insert(String(selected))) }
      message = results == nil ? "Still searching" : "There is nothing to insert"
    default: return search(query.typing(key))
    }
    return .none
  }

  private mutating func pressInText(_ key: Key) -> Effect {
    switch key {
    case .tab, .escape: focus = .search
    case .character(let scalar): return .edit(.insert(String(scalar)))
    case .backspace: return delete(max(0, line.caret - 1)..<line.caret)
    case .delete: return delete(line.caret..<line.right)
    case .control("w"): return delete(line.wordStart..<line.caret)
    case .control("u"): return delete(0..<line.caret)
    case .left: return .edit(.moveCaret(to: line.left))
    case .right: return .edit(.moveCaret(to: line.right))
    case .home: return .edit(.moveCaret(to: 0))
    case .end: return .edit(.moveCaret(to: line.end))
    default: break
    }
    return .none
  }

  private mutating func pressInQuestion(_ key: Key) -> Effect {
    switch (key, focus) {
    case (.tab, _), (.escape, _): focus = .text
    case (.return, .replaced) where answer.isEmpty: focus = .text
    case (.return, .replacement(let replaced)):
      focus = .text
      return .edit(.replaceAll(replaced, by: answer))
    case (.return, _): ask(.replacement(of: answer))
    default: answer = answer.typing(key)
    }
    return .none
  }

  private mutating func search(_ query: String) -> Effect {
    guard query != self.query else { return .none }
    self.query = query
    results = nil
    selection = 0
    return .search
  }

  private mutating func select(_ place: Int) {
    selection = max(0, min(place, (results?.count ?? 0) - 1))
  }

  private func delete(_ range: Range<Int>) -> Effect {
    range.isEmpty ? .none : .edit(.delete(range))
  }

  private mutating func ask(_ question: Focus) {
    focus = question
    answer = ""
  }
}

extension String {
  /// The text after a key that types at its end, or erases there.
  fileprivate func typing(_ key: Key) -> String {
    switch key {
    case .character(let scalar): self + String(scalar)
    case .backspace: String(unicodeScalars.dropLast())
    case .control("w"): droppingLastWord
    case .control("u"): ""
    default: self
    }
  }

  /// `left arr` becomes `left `, and `left ` becomes nothing.
  private var droppingLastWord: String {
    let words = unicodeScalars.reversed().drop { $0 == " " }.drop { $0 != " " }
    return String(String.UnicodeScalarView(words.reversed()))
  }
}
