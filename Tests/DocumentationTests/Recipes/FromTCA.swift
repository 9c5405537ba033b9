import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Coming from another library”, about the Composable Architecture.
@Suite(.mustEnd) @MainActor
struct FromTCA {
  @Test func `in an effect, a superseded search throws CancellationError`() async throws {
    let server = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))
    let superseded = Task { try await server("e") }
    _ = try await server.next()
    let newest = Task { try await server("em") }
    await #expect(throws: CancellationError.self) { try await superseded.value }
    #expect(!superseded.isCancelled)
    try await server.next().succeed(["Emma"])
    #expect((try? await newest.value) == ["Emma"])
  }
}
