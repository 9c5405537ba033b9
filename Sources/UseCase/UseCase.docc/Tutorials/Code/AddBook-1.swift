import UseCase
import UseCaseHistory

struct AddBook: UndoableUseCase {
  let list: ReadingList

  func main(_ title: String) async throws -> Int {
    await list.add(title)
  }

  func undo(_ title: String, _ position: Int) async throws {
    await list.remove(at: position)
  }
}
