import UseCase
import UseCaseHistory

extension ReferenceHistory.Script {
  /// Returns a group by chance, whose edits have the texts that `text` gives.
  static func random(
    titled title: String = "G", depth: Int = 0, _ random: inout SeededGenerator, text: () -> String
  ) -> Self {
    let items = (0..<Int.random(in: 0...3, using: &random)).map { number -> Item in
      depth < 2 && Int.random(in: 0..<4, using: &random) == 0
        ? .group(Self.random(titled: "\(title)\(number)", depth: depth + 1, &random, text: text))
        : .edit(text())
    }
    return Self(
      title: title, items: items, isTolerant: Bool.random(using: &random),
      throwsAtEnd: Int.random(in: 0..<4, using: &random) == 0)
  }

  /// Executes the group, with `edit` for each of its texts.
  func execute<Base: UndoableUseCase>(
    by edit: RecordedUseCase<Base>, in history: UseCaseHistory
  ) -> UseCaseOperation<String, Void> where Base.Request == String {
    history.group(title) {
      for item in items {
        do {
          switch item {
          case .edit(let text): _ = try await edit(text)
          case .group(let script):
            try await script.execute(by: edit, in: history).value
            // A group that has ended before it is awaited has a value, also in a cancelled task.
            try Task.checkCancellation()
          }
        } catch {
          if !isTolerant { throw error }
        }
      }
      if throwsAtEnd { throw Failure(title) }
    }
  }
}
