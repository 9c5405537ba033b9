import Testing
import UseCase
import UseCaseHistory

@testable import picker

@MainActor
struct EditorTests {
  private let folder: Folder
  private let editor: Editor
  private let heard = Heard()

  private final class Heard {
    var messages: [String] = []
  }

  init() throws {
    folder = try Folder()
    editor = try Editor(file: folder.file("line"))
    editor.onMessage = { [heard] in heard.messages.append($0) }
  }

  private func perform(_ commands: Editor.Command...) async {
    for command in commands { await editor.perform(command) }
  }

  private func type(_ text: String) async {
    for scalar in text.unicodeScalars { await editor.perform(.insert(String(scalar))) }
  }

  private var text: String { editor.document.line.text }
  private var message: String? { heard.messages.last }

  /// As the history of an editor is written down: `one two | three`.
  private var titles: String {
    let entries = editor.history.entries
    let applied = entries.filter(\.isApplied).map(\.title)
    let undone = entries.filter { !$0.isApplied }.map(\.title)
    return (applied + ["|"] + undone).joined(separator: " ")
  }

  // Without `merge` in InsertText this fails.
  @Test func `typing becomes words`() async {
    await type("one two  three")
    #expect(text == "one two  three")
    #expect(titles == "Insert “one ” Insert “two  ” Insert “three” |")
    await perform(.undo, .undo)
    #expect(text == "one ")
    #expect(titles == "Insert “one ” | Insert “two  ” Insert “three”")
    await perform(.redo)
    #expect(text == "one two  ")
    #expect(message == "Redone: Insert “two  ”")
  }

  @Test func `erasing becomes one change`() async {
    await type("abcdef")
    await perform(.moveCaret(to: 3), .delete(2..<3), .delete(1..<2), .delete(1..<2))
    #expect(text == "aef")
    #expect(titles == "Insert “abcdef” Delete “bcd” |")
    await perform(.undo)
    #expect(text == "abcdef")
    #expect(editor.document.line.caret == 4)
  }

  @Test func `typing after an undo drops what was undone`() async {
    await type("one two")
    await perform(.undo)
    await type("2")
    #expect(titles == "Insert “one ” Insert “2” |")
    await perform(.redo)
    #expect(message == "Nothing to redo")
    #expect(text == "one 2")
  }

  @Test func `with nothing to undo there is nothing to undo`() async {
    await perform(.undo)
    #expect(message == "Nothing to undo")
  }

  @Test func `all places are replaced as one change`() async {
    await type("banana")
    await perform(.replaceAll("an", by: "→漢!"))
    #expect(text == "b→漢!→漢!a")
    #expect(message == "Places replaced: 2")
    #expect(titles == "Insert “banana” Replace “an” by “→漢!” |")
    await perform(.undo)
    #expect(text == "banana")
    await perform(.redo, .replaceAll("→漢!", by: ""))
    #expect(text == "ba")
  }

  @Test func `replacing what is not there changes nothing`() async {
    await type("a b")
    await perform(.undo, .replaceAll("x", by: "y"), .replaceAll("", by: "y"))
    #expect(heard.messages.suffix(2) == ["There is no “x”", "There is no “”"])
    #expect(titles == "Insert “a ” | Insert “b”")
  }

  @Test func `a locked line refuses everything, and nothing is lost`() async {
    await type("one two")
    await perform(.replaceAll("o", by: "0"), .undo, .undo, .toggleLock)
    #expect(message == "The line is locked")
    let before = titles
    let commands: [(Editor.Command, String)] = [
      (.undo, "Not undone"), (.redo, "Not redone"), (.insert("x"), "Not inserted"),
      (.delete(0..<1), "Not deleted"), (.replaceAll("o", by: "0"), "Not replaced"),
    ]
    for (command, words) in commands {
      await perform(command)
      #expect(message == "\(words): the line is locked (Ctrl-L)")
      #expect(titles == before)
      #expect(text == "one ")
    }
    await perform(.toggleLock, .redo, .redo)
    #expect(text == "0ne tw0")
    #expect(heard.messages.suffix(3).first == "The line is unlocked")
    await perform(.undo, .undo, .undo)
    #expect(text == "")
  }

  @Test func `the line is loaded from its file and saved there`() async throws {
    try folder.file("line").write("hello")
    let editor = try Editor(file: folder.file("line"))
    #expect(editor.document.line.text == "hello")
    #expect(editor.isSaved)
    await editor.perform(.insert("!"))
    #expect(!editor.isSaved)
    await editor.perform(.save)
    await editor.settled()
    #expect(editor.isSaved)
    #expect(try folder.file("line").read() == "hello!")
  }

  @Test func `the saved place is where undo and redo find it`() async throws {
    await type("one two")
    await perform(.save)
    await editor.settled()
    var marks = [editor.isSaved]
    for command in [.undo, .redo, .insert("x"), .undo, .undo, .insert("y"), .undo]
      as [Editor.Command]
    {
      await perform(command)
      marks.append(editor.isSaved)
    }
    #expect(marks == [true, false, true, false, true, false, false, false])
  }

  @Test func `what is typed during a save is not saved`() async throws {
    await type("one ")
    editor.saveText?.queue.suspend()
    await perform(.save)
    await type("two")
    editor.saveText?.queue.resume()
    await editor.settled()
    #expect(message == "Saved")
    #expect(!editor.isSaved)
    #expect(try folder.file("line").read() == "one ")
    await perform(.undo)
    #expect(editor.isSaved)
  }

  @Test func `a save that fails leaves the mark`() async throws {
    let editor = try Editor(file: folder.file("none/line"))
    editor.onMessage = { [heard] in heard.messages.append($0) }
    await editor.perform(.insert("a"))
    await editor.perform(.save)
    await editor.settled()
    #expect(message == "Not saved: cannot write \(folder.path)/none/line")
    #expect(!editor.isSaved)
  }

  @Test func `without a file there is nowhere to save, and nothing to mark`() async throws {
    let editor = try Editor(file: nil)
    editor.onMessage = { [heard] in heard.messages.append($0) }
    await editor.perform(.insert("a"))
    #expect(editor.isSaved)
    await editor.perform(.save)
    #expect(message == "Nowhere to save: start with --file FILE")
  }

  @Test func `whatever is done can be undone, and redone`() async {
    var random = SplitMix(state: 2017)
    for round in 1...300 {
      let line = editor.document.line
      let place = Int.random(in: 0...line.end, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: await type(["a", " ", "漢", "e\u{301}"].randomElement(using: &random) ?? "")
      case 5: if place > 0 { await perform(.delete(place - 1..<place)) }
      case 6: await perform(.moveCaret(to: place))
      case 7: await perform(.replaceAll(["a", "漢"][place % 2], by: ["b", ""][place % 2]))
      case 8: for _ in 0...place % 3 { await perform(.undo) }
      default: await perform(.redo)
      }
      if round.isMultiple(of: 20) { await expectIdentity() }
    }
  }

  /// Everything undone is the line at the beginning; as much redone is the line as it was.
  private func expectIdentity() async {
    let (before, count) = (text, editor.history.state.undoCount)
    for _ in 0..<count { await perform(.undo) }
    #expect(text == "")
    #expect(editor.isSaved)
    for _ in 0..<count { await perform(.redo) }
    #expect(text.unicodeScalars.elementsEqual(before.unicodeScalars))
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
