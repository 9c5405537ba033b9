import Testing
import UseCase

@testable import Books

@MainActor
struct UndoTests {
  @Test func `undo removes the newest book`() async {
    let list = ReadingList()
    let model = ReadingListModel(list: list)
    model.add("Emma")
    model.add("Evelina")
    await model.undo().ended()

    #expect(await list.titles == ["Emma"])
    #expect(model.message == "Undone: Add “Evelina”")
  }
}
