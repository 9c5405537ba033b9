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

  @Test func `an undo that fails says so and can be tried again`() async {
    let model = ShelfModel(shelf: shelf)
    await model.remove.execute("Emma").ended()
    await shelf.goOffline(for: 1)
    await model.undo().ended()
    #expect(model.message == "Not undone: Offline()")
    await model.undo().ended()
    #expect(await shelf.titles == ["Emma", "Persuasion", "Emmeline"])
  }
}
