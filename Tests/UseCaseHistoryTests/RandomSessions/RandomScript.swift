import TestSupport
import UseCase
import UseCaseHistory

extension ReferenceHistory.Script {
  /// Returns a group by chance, whose edits have the texts that `text` gives. Groups may be held
  /// open in it if it `holds` any.
  static func random(
    titled title: String = "G", holds: Bool = false, depth: Int = 0,
    _ random: inout SeededGenerator, text: () -> String
  ) -> Self {
    let items = (0..<Int.random(in: 0...3, using: &random)).map { number -> Item in
      let title = "\(title)\(number)"
      if holds, Int.random(in: 0..<3, using: &random) == 0 {
        let texts = (0..<Int.random(in: 0...3, using: &random)).map { _ in text() }
        return .held(title, texts, isCancelled: Bool.random(using: &random))
      }
      return depth < 2 && Int.random(in: 0..<4, using: &random) == 0
        ? .group(
          Self.random(titled: title, holds: holds, depth: depth + 1, &random, text: text))
        : .edit(text())
    }
    return Self(
      title: title, items: items, isTolerant: Bool.random(using: &random),
      throwsAtEnd: Int.random(in: 0..<4, using: &random) == 0)
  }

  /// Executes the group, with `useCase` for each of its texts.
  func execute<Base: UndoableUseCase>(
    by useCase: Base, in history: UseCaseHistory
  ) -> UseCaseOperation<String, Void> where Base.Request == String {
    let edit = useCase.recorded(in: history)
    return history.group(title) {
      for item in items {
        do {
          switch item {
          case .edit(let text): _ = try await edit(text)
          case .group(let script):
            try await script.execute(by: useCase, in: history).value
            // A group that has ended before it is awaited has a value, also in a cancelled task.
            try Task.checkCancellation()
          case .held(let title, let texts, let isCancelled):
            let group = history.openGroup(title)
            for text in texts { await group.execute(useCase, text).ended() }
            if isCancelled { group.cancel() }
            _ = try await group.close().value
          }
        } catch {
          if !isTolerant { throw error }
        }
      }
      if throwsAtEnd { throw Failure(title) }
    }
  }
}
