import UseCase

/// Collects the names of all characters, and reports how far it has come, in per cent.
struct BuildIndex: ReportingUseCase {
  func main(
    _ request: Void, report: @escaping @Sendable (Int) -> Void
  ) async throws -> CharacterIndex {
    try CharacterIndex { percent in
      try Task.checkCancellation()
      report(percent)
    }
  }
}
