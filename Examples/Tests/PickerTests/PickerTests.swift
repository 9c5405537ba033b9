import Foundation
import Testing
import UseCase

@testable import picker

@MainActor
struct PickerTests {
  private static let index = CharacterIndex { _ in }
  private static let size = TerminalSize(columns: 60, rows: 10)

  private let history = History()
  private let picker: Picker

  /// Every state that was ever on the screen.
  private final class History {
    var states: [PickerState] = []
  }

  init() throws {
    picker = Picker(size: Self.size, editor: try Editor(file: nil)) { [history] in
      history.states.append($0)
    }
  }

  private func type(_ text: String) async {
    for scalar in text.unicodeScalars { await picker.press(.character(scalar)) }
  }

  private func found(_ query: String) -> [Unicode.Scalar] { Self.index.search(query) {} }

  /// Every list that was ever shown was that of the query above it.
  private func expectNoStaleResults() {
    for state in history.states {
      guard let results = state.results else { continue }
      let isStale = results != found(state.query)
      #expect(!isStale, "\(state.query)")
    }
  }

  @Test func `building the index shows how far it has come, and ends in an empty search`() async {
    picker.start()
    await picker.settled()
    var heard: [Int] = []
    for progress in history.states.compactMap(\.progress) where heard.last != progress {
      heard.append(progress)
    }
    #expect(heard == Array(0...100))
    #expect(picker.state.progress == nil)
    #expect(picker.state.results == [])
    #expect(picker.state.work == PickerState.Work(executed: 1, superseded: 0, running: 0))
  }

  @Test func `what is typed before the index is there is searched when it is`() async {
    picker.start()
    await type("arrow")
    #expect(picker.state.work.executed == 0)
    await picker.settled()
    #expect(picker.state.results == found("arrow"))
    #expect(picker.state.work.executed == 1)
  }

  @Test func `typing fast never shows a stale result`() async {
    picker.start()
    await picker.settled()
    for word in ["left arrow", "heart", "cjk", "a"] {
      await type(word)
      await picker.settled()
      #expect(picker.state.results == found(picker.state.query))
      await picker.press(.control("u"))
    }
    await picker.settled()
    expectNoStaleResults()
    #expect(picker.state.work.executed == 1 + 19 + 4)
    #expect(picker.state.work.running == 0)
  }

  // Without `previous?.cancel()` in the picker this fails.
  @Test func `a result that was on its way when the next key came is not shown`() async {
    picker.start()
    await picker.settled()
    await type("cat")
    while picker.search?.state != .finished { sched_yield() }
    let search = picker.search
    picker.searches.suspend()
    await type("s")
    await search?.ended()
    #expect(picker.state.query == "cats")
    #expect(picker.state.results == nil)
    picker.searches.resume()
    await picker.settled()
    expectNoStaleResults()
    #expect(picker.state.results == found("cats"))
  }

  @Test func `each key executes a search, and takes the place of the one before`() async {
    picker.start()
    await picker.settled()
    await picker.burst("heart".unicodeScalars.map(Key.character))
    await picker.settled()
    #expect(picker.state.results == found("heart"))
    #expect(picker.state.work == PickerState.Work(executed: 6, superseded: 4, running: 0))
  }

  @Test func `a search that is superseded gives up`() async {
    let search = SearchCharacters(index: Self.index, queue: UseCaseQueue(.cancelPrevious))
    search.queue.suspend()
    let operations = ["e", "ea", "ear"].map { search.execute($0) }
    search.queue.resume()
    var outcomes: [String] = []
    for operation in operations {
      switch await operation.ended() {
      case .cancelled(.superseded): outcomes.append("superseded")
      case .success(let found): outcomes.append("\(found == self.found("ear"))")
      case .failure, .cancelled: outcomes.append("neither")
      }
    }
    #expect(outcomes == ["superseded", "superseded", "true"])

    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await search.main("e")
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test func `an answer that is on its way at the next key is never shown`() async {
    picker.start()
    await picker.settled()
    for _ in 1...500 {
      await type("e")
      // The main actor is busy meanwhile, so the answer can only be on its way.
      while picker.search?.state != .finished { sched_yield() }
      await type("a")
      while picker.search?.state != .finished { sched_yield() }
      for _ in 1...2 { await picker.press(.backspace) }
    }
    await picker.settled()
    expectNoStaleResults()
    #expect(picker.state.results == found(picker.state.query))
  }

  @Test func `leaving and resizing`() async {
    picker.resize(to: TerminalSize(columns: 20, rows: 5))
    #expect(history.states.last?.size == TerminalSize(columns: 20, rows: 5))
    #expect(!picker.hasQuit)
    await picker.press(.control("c"))
    #expect(picker.hasQuit)
  }
}

@MainActor
struct PickerEditingTests {
  private let picker: Picker

  init() throws {
    picker = Picker(size: TerminalSize(columns: 80, rows: 24), editor: try Editor(file: nil)) { _ in
    }
  }

  private func press(_ keys: Key...) async {
    for key in keys { await picker.press(key) }
  }

  private func type(_ text: String) async {
    for scalar in text.unicodeScalars { await picker.press(.character(scalar)) }
  }

  @Test func `the state shows the line and the history at once`() async {
    await press(.tab)
    await type("one two")
    #expect(picker.state.line.text == "one two")
    #expect(picker.state.applied == ["Insert “one ”", "Insert “two”"])
    await press(.control("z"))
    #expect(picker.state.applied == ["Insert “one ”"])
    #expect(picker.state.undone == ["Insert “two”"])
    #expect(picker.state.message == "Undone: Insert “two”")
    await press(.left)
    #expect(picker.state.message == nil)
  }

  @Test(arguments: [
    [Key.left, .right], [.tab, .tab], [.control("l"), .control("l")], [.home, .end],
  ])
  func `a word ends where another key comes between`(keys: [Key]) async {
    await press(.tab, .character("a"))
    for key in keys { await press(key) }
    await press(.character("b"))
    #expect(picker.state.line.text == "ab")
    #expect(picker.state.applied == ["Insert “a”", "Insert “b”"])
  }

  @Test func `each picked character is a change of its own`() async {
    picker.start()
    await type("2190")
    await picker.settled()
    await press(.return, .return)
    #expect(picker.state.line.text == "←←")
    #expect(picker.state.applied == ["Insert “←”", "Insert “←”"])
    await press(.control("u"), .backspace, .backspace, .control("z"))
    #expect(picker.state.line.text == "←")
  }

  @Test func `an undo that fails is told, and works later`() async {
    await press(.tab, .character("a"), .control("l"), .control("z"))
    #expect(picker.state.message == "Not undone: the line is locked (Ctrl-L)")
    #expect(picker.state.applied == ["Insert “a”"])
    await press(.control("l"), .control("z"))
    #expect(picker.state.line.text == "")
    #expect(picker.state.undone == ["Insert “a”"])
  }
}

@MainActor
struct TranscriptTests {
  private func transcript(of script: String) async throws -> [String] {
    var lines: [String] = []
    await play(try Script(script.utf8, name: "test"), try Editor(file: nil)) { lines.append($0) }
    return lines
  }

  @Test func `a transcript begins with the progress and shows the screen after each line`()
    async throws
  {
    let lines = try await transcript(of: "size 30 5\nburst 2190\npress return ctrl-c\ntype x")
    #expect(lines.prefix(11).allSatisfy { $0.hasPrefix("Reading the names [") })
    #expect(
      lines.dropFirst(11) == [
        "> size 30 5", "| Search:", "| Type words of a name, or a co…",
        "| Up, Down: choose. Return: ins…",
        "| Text:",
        "| executed 1, superseded 0, run…",
        "> burst 2190", "| Search: 2190", "| > U+2190   ←   LEFTWARDS ARROW",
        "|   U+21900  𡤀  CJK UNIFIED ID…", "| Text:", "| executed 5, superseded 3, run…",
        "> press return ctrl-c", "| Search: 2190", "| > U+2190   ←   LEFTWARDS ARROW",
        "|   U+21900  𡤀  CJK UNIFIED ID…", "| Text: ←", "| executed 5, superseded 3, run…",
      ])
  }

  @Test func `a transcript shows where the caret is in the text`() async throws {
    let lines = try await transcript(of: "size 30 4\npress tab\ntype a漢b\npress left left")
    #expect(
      lines.suffix(6) == [
        "> press left left", "| Search:", "| Type words of a name, or a co…", "| Text: a漢b",
        "         ^", "| 1 applied, 0 undone",
      ])
  }

  @Test func `a transcript is the same each time`() async throws {
    let script = "type ca\nburst ts and dogs\npress ctrl-w ctrl-w\nbytes 78 79 7f\n"
    #expect(try await transcript(of: script) == transcript(of: script))
  }
}
