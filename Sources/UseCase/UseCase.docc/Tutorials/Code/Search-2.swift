import UseCase

struct Search: UseCase {
  let askServer: @Sendable (String) async throws -> [String]
  let queue = UseCaseQueue(.cancelPrevious)

  func main(_ text: String) async throws -> [String] {
    try await askServer(text)
  }
}
