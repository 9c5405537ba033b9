import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct FromCompletionHandlers {
  struct Fetch: UseCase {
    let service: Service
    let queue = UseCaseQueue(.cancelPrevious)

    func main(_ name: String) async throws -> String {
      let download = service.download(name)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          download.start { result in continuation.resume(with: result) }
        }
      } onCancel: {
        download.cancel()
      }
    }
  }

  /// The interface that one has.
  final class Service: Sendable {
    let downloads = Log<Download>()

    func download(_ name: String) -> Download { Download(name, started: downloads) }
  }

  /// It calls back once, also when it is cancelled, be it before it starts.
  final class Download: Sendable {
    typealias Completion = @Sendable (Result<String, any Error>) -> Void

    private let name: String
    private let started: Log<Download>
    private let state = Watched<(completion: Completion?, isCancelled: Bool)>((nil, false))

    init(_ name: String, started: Log<Download>) {
      self.name = name
      self.started = started
    }

    func start(completion: @escaping Completion) {
      state.update { $0.completion = completion }
      started.append(self)
      if state.value.isCancelled { end(.failure(CancellationError())) }
    }

    func finish() { end(.success("text of \(name)")) }

    func cancel() {
      state.update { $0.isCancelled = true }
      end(.failure(CancellationError()))
    }

    private func end(_ result: Result<String, any Error>) {
      let completion = state.update { state in
        defer { state.completion = nil }
        return state.completion
      }
      completion?(result)
    }
  }

  private let service = Service()

  @Test func `a function with a completion handler answers a use case`() async throws {
    let operation = Fetch(service: service).execute("page")
    await service.downloads.elements(atLeast: 1)[0].finish()
    #expect(try await operation.value == "text of page")
  }

  @Test func `a newer request cancels the download of the older one`() async throws {
    let fetch = Fetch(service: service)
    let older = fetch.execute("page")
    await service.downloads.elements(atLeast: 1)
    let newer = fetch.execute("other")
    await older.ended()
    let other = await service.downloads.elements(atLeast: 2)[1]
    other.finish()
    #expect(try await newer.value == "text of other")
    await fetch.queue.idle()
  }

  @Test func `a caller that wants a completion handler gets one`() async {
    func fetch(_ name: String, completion: @escaping Download.Completion) {
      Fetch(service: service).execute(name)
        .then { text in completion(.success(text)) }
        .catch { error in completion(.failure(error)) }
        .onCancel { _ in completion(.failure(CancellationError())) }
    }
    let results = Log<Result<String, any Error>>()
    fetch("page") { results.append($0) }
    await service.downloads.elements(atLeast: 1)[0].finish()
    let texts = await results.elements(atLeast: 1).map { try? $0.get() }
    #expect(texts == ["text of page"])
  }
}
