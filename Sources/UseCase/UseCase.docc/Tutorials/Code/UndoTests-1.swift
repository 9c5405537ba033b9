import Testing
import UseCase
import UseCaseTesting

@testable import Books

@MainActor
struct UndoTests {
  @Test func `undo removes the newest book`() async throws {
    let list = ReadingList()
    let model = ReadingListModel(list: list)
    model.add("Emma")
    model.add("Evelina")
    try await model.undo().settled()

    #expect(await list.titles == ["Emma"])
    #expect(model.message == "Undone: Add “Evelina”")
  }
}
