import UseCase

/// Finds the characters that a query asks for, the best first.
struct SearchCharacters: UseCase {
  let index: CharacterIndex

  /// Each search takes the place of the one before.
  let queue: UseCaseQueue

  func main(_ query: String) async throws -> [Unicode.Scalar] {
    // A search that has been superseded stops in the middle of its scan.
    try index.search(query, checkpoint: Task.checkCancellation)
  }
}
