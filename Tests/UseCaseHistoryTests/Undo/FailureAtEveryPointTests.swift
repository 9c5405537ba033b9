import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// One session again and again, each time with another action that fails, and with each two that
/// do: in a body, an undo, a redo, a part of a group, a roll-back, or a neighbour of a merge.
///
/// The document is a text. Whatever fails, the text is that of the applied entries, step by step,
/// and in the end all of it can be undone and redone.
@Suite(.mustEnd)
struct FailureAtEveryPointTests {
  private let desk = Desk()
  private var history: UseCaseHistory { desk.history }
  private var page: Page { desk.page }

  private struct Scene {
    var text = ""
    var failing: Set<Int> = []
    var count = 0
    var mistakes: [String] = []

    /// The action is about to end. Returns false if it fails.
    mutating func act(_ action: String) -> Bool {
      count += 1
      guard !failing.contains(count) else { return false }
      let words = action.split(separator: " ")
      let letters = String(words[1].filter { !$0.isNumber })
      if letters == "X", text.hasSuffix("x") {
        text.removeLast()
      } else if words[0] != "undo" {
        text += letters
      } else if text.hasSuffix(letters) {
        text.removeLast(letters.count)
      } else {
        mistakes.append("\(action) in \(text)")
      }
      return true
    }
  }

  private let scene = Watched(Scene())

  private func edit(_ texts: String...) async {
    for text in texts { await history.run(page, text) }
  }

  private func type(_ texts: String...) async {
    for text in texts { await history.type(page, text) }
  }

  /// About thirty steps. Returns how many actions that took.
  private func play(failing: Set<Int>) async -> Int {
    scene.update { $0.failing = failing }
    page.direct { [scene] action in
      await Task.yield()
      guard scene.update({ $0.act(action) }) else { throw Failure(action) }
    }
    var saved = ""
    let steps: [() async -> Void] = [
      { await edit("A") },
      { await edit("B") },
      { await history.undo().ended() },
      { await history.redo().ended() },
      { await type("c") },
      { await type("d") },
      { await history.undo().ended() },
      { await type("e") },
      { await type("f") },
      { await history.redo().ended() },
      { await desk.group("G", "H", "I") },
      { await history.undo().ended() },
      { await history.undo().ended() },
      { await history.redo().ended() },
      {
        history.save()
        saved = scene.value.text
      },
      { await nested(throwing: false) },
      { await history.undo().ended() },
      { await history.redo().ended() },
      { await nested(throwing: true) },
      { await type("x") },
      { await type("X") },
      { await type("y") },
      { await type("z") },
      { await history.move(to: history.entries.first?.id).ended() },
      { await history.move(to: history.entries.last?.id).ended() },
      { await desk.group("K", "L", "M", failing: Failure("K")) },
      { await history.undo().ended() },
      { await edit("N") },
      { _ = await (history.undo().ended(), history.undo().ended(), history.redo().ended()) },
      { await history.move(to: nil).ended() },
      { await history.redo().ended() },
    ]
    for (index, step) in steps.enumerated() {
      await step()
      check(failing, "step \(index)", saved: saved)
    }
    let count = scene.value.count
    scene.update { $0.failing = [] }
    await undoAndRedoAll(failing, saved: saved)
    return count
  }

  private func nested(throwing: Bool) async {
    await history.group("O") { [edit = desk.edit, history] in
      _ = try await edit("P")
      let nested = history.group("Q") {
        _ = try await edit("R")
        _ = try await edit("S")
        if throwing { throw Failure("Q") }
      }
      try? await nested.value
      _ = try await edit("T")
      if throwing { throw Failure("O") }
    }.ended()
  }

  private func check(_ failing: Set<Int>, _ place: String, saved: String) {
    let (entries, state, scene) = (history.entries, history.state, scene.value)
    let text = entries.map(\.appliedText).joined()
    let isPrefix = entries.drop(while: \.isApplied).allSatisfy { !$0.isApplied }
    let isRight = scene.text == text && isPrefix && scene.mistakes.isEmpty
    guard !isRight || state.isBusy || (state.isClean && text != saved) else { return }
    Issue.record(
      """
      If \(failing.sorted()) fail, \(place): \(scene.text), \(history.layout), \(scene.mistakes)
      """)
  }

  private func undoAndRedoAll(_ failing: Set<Int>, saved: String) async {
    // An entry that was left half undone is made whole first.
    if history.state.redoTitle != nil { await history.redo().ended() }
    let (text, layout) = (scene.value.text, history.layout)
    let count = history.state.undoCount
    for _ in 0..<count {
      #expect(await history.undo().ended().value.flatMap(\.self) != nil)
      check(failing, "at the end", saved: saved)
    }
    #expect(await history.undo().ended().value == .some(nil))
    #expect(scene.value.text.isEmpty)
    for _ in 0..<count { await history.redo().ended() }
    #expect(scene.value.text == text && history.layout == layout)
    let discarded = page.discarded.map { $0.split(separator: " ")[0] }
    #expect(Set(discarded).count == discarded.count)
  }

  @Test(.holds("Consistent"))
  func `whatever fails, the text is what the entries say, and all can be undone`() async {
    let count = await FailureAtEveryPointTests().play(failing: [])
    #expect(count > 40)
    var sessions = 0
    var first = 1
    // A failure makes the session longer or shorter.
    while await FailureAtEveryPointTests().play(failing: [first]) >= first {
      for second in first + 1...first + 6 {
        _ = await FailureAtEveryPointTests().play(failing: [first, second])
      }
      sessions += 1
      first += 1
    }
    #expect(sessions > 40)
  }

  @Test func `whatever fails until it is repaired, the text is what the entries say`() async {
    for first in 1...60 {
      for length in [2, 3, 1_000] {
        _ = await FailureAtEveryPointTests().play(failing: Set(first..<first + length))
      }
    }
  }
}

extension HistoryEntry {
  /// The text that its applied steps have written.
  fileprivate var appliedText: String {
    if children.isEmpty { return isApplied ? title : "" }
    return children.map(\.appliedText).joined()
  }
}
