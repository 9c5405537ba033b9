import Foundation
import Observation
import Testing
import UseCase
import UseCaseHistory

@testable import newcomer

@MainActor
struct ShelfModelTests {
  private let shelf = Shelf(["Emma", "Persuasion", "Emmeline"])

  @Test func `a search shows what it found`() async {
    let model = ShelfModel(shelf: shelf)
    let operation = model.search.execute("Emm")
    #expect(model.search.isRunning)
    await operation.ended()
    #expect(model.search.value == ["Emma", "Emmeline"])
    #expect(!model.search.isRunning && model.search.error == nil)
  }

  @Test func `a newer search supersedes the one before, whose answer is never shown`() async {
    let model = ShelfModel(shelf: shelf)
    await shelf.answerOnly(0)
    let older = model.search.execute("P")
    let newer = model.search.execute("Emm")
    await shelf.answerAll()
    guard case .cancelled(.superseded) = await older.ended() else {
      return #expect(Bool(false), "superseded")
    }
    await newer.ended()
    #expect(model.search.value == ["Emma", "Emmeline"])
    #expect(!model.search.isRunning && model.search.error == nil)
  }

  @Test func `a search is tried three times`() async {
    let model = ShelfModel(shelf: shelf)
    await shelf.goOffline(for: 2)
    await model.search.execute("P").ended()
    #expect(model.search.value == ["Persuasion"])
    await shelf.goOffline(for: 3)
    await model.search.execute("E").ended()
    #expect(model.search.error is Shelf.Offline)
    #expect(model.search.value == ["Persuasion"])
  }

  @Test func `an import shows its progress`() async {
    let model = ShelfModel(shelf: shelf)
    let operation = model.importing.execute(["Sanditon", "Lady Susan"])
    #expect(model.importing.update == nil && model.importing.isRunning)
    await operation.ended()
    #expect(model.importing.update == 1 && model.importing.value == 2)
    #expect(await shelf.titles.count == 5)
  }

  @Test func `an import that is half done shows so`() async {
    let model = ShelfModel(shelf: shelf)
    await shelf.answerOnly(1)
    let operation = model.importing.execute(["Sanditon", "Lady Susan"])
    await until { model.importing.update != nil }
    #expect(model.importing.update == 0.5)
    #expect(model.importing.isRunning && model.importing.value == nil)
    #expect(await shelf.titles.last == "Sanditon")
    await shelf.answerAll()
    await operation.ended()
    #expect(model.importing.update == 1 && !model.importing.isRunning)
  }

  @Test func `what was removed comes back, to where it stood`() async {
    let model = ShelfModel(shelf: shelf)
    #expect(!model.edits.state.canUndo)
    await model.remove.execute("Persuasion").ended()
    #expect(await shelf.titles == ["Emma", "Emmeline"])
    #expect(model.edits.state.undoTitle == "Remove Persuasion")
    await model.undo().ended()
    #expect(await shelf.titles == ["Emma", "Persuasion", "Emmeline"])
    #expect(!model.edits.state.canUndo && model.edits.state.canRedo)
  }

  @Test func `what came back goes again with a redo`() async {
    let model = ShelfModel(shelf: shelf)
    await model.remove.execute("Persuasion").ended()
    await model.undo().ended()
    #expect(model.edits.state.redoTitle == "Remove Persuasion")
    model.edits.redo()
    await until { model.edits.state.canUndo && !model.edits.state.isBusy }
    #expect(await shelf.titles == ["Emma", "Emmeline"])
    #expect(!model.edits.state.canRedo && model.edits.state.undoTitle == "Remove Persuasion")
    await model.undo().ended()
    #expect(await shelf.titles == ["Emma", "Persuasion", "Emmeline"])
  }

  @Test func `an undo that fails says so and can be tried again`() async {
    let model = ShelfModel(shelf: shelf)
    await model.remove.execute("Emma").ended()
    await shelf.goOffline(for: 1)
    await model.undo().ended()
    #expect(model.message == "Not undone: Offline()")
    await model.undo().ended()
    #expect(await shelf.titles == ["Emma", "Persuasion", "Emmeline"])
  }

  @Test func `the view model has fewer than sixty lines`() throws {
    let examples = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = examples.appending(path: "Sources/newcomer/ShelfModel.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("final class ShelfModel") && text.count { $0 == "\n" } < 60)
  }

  /// Returns when the condition holds: it looks again at each change of what it has read.
  private func until(_ holds: () -> Bool) async {
    while !holds() {
      await withCheckedContinuation { change in
        withObservationTracking {
          _ = holds()
        } onChange: {
          change.resume()
        }
      }
    }
  }
}
