import Foundation
import NotesWire
import UseCase

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends a request to the server over HTTP. A request that may succeed another time is tried again.
struct CallServer: UseCase {
  let server: ServerAddress
  let credentials: Credentials
  let timeout: Duration
  let queue: UseCaseQueue
  private let session = URLSession(configuration: .ephemeral)

  /// `onRetry` hears why a request is sent again.
  init(
    server: ServerAddress, credentials: Credentials, timeout: Duration = .seconds(10),
    trouble: Trouble = Trouble(), onRetry: @escaping @Sendable (NotesError) -> Void = { _ in }
  ) {
    self.server = server
    self.credentials = credentials
    self.timeout = timeout
    let delay = RetryInterceptor.Delay.exponential(.milliseconds(100), cap: .seconds(1))
    let retry = RetryInterceptor(attempts: 4, delay: delay) { error in
      guard let error = error as? NotesError, error.isTransient else { return false }
      onRetry(error)
      return true
    }
    queue = UseCaseQueue(.limit(4), interceptors: [retry, trouble])
  }

  func main(_ request: ServerRequest) async throws -> [Note] {
    let address = try await server.url()
    let (data, response) = try await send(request, to: address)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    switch (status, request.id) {
    case (200, _), (201, _):
      let notes = try? JSONDecoder().decode([Note].self, from: data)
      let note = try? JSONDecoder().decode(Note.self, from: data)
      guard let notes = notes ?? note.map({ [$0] }) else {
        throw NotesError.refused(status: status, words: "the answer is no note")
      }
      return notes
    case (204, _): return []
    case (401, _): throw NotesError.notLoggedIn
    case (404, let id?): throw NotesError.notFound(id)
    case (412, _): throw NotesError.changed
    case (503, _): throw NotesError.busy
    default:
      let words = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
      throw NotesError.refused(status: status, words: words)
    }
  }

  private func send(
    _ request: ServerRequest, to address: URL
  ) async throws -> (Data, URLResponse) {
    do {
      return try await session.data(for: request.http(to: address, token: credentials.token))
    } catch let error as URLError {
      switch error.code {
      case .cancelled: throw CancellationError()
      case .notConnectedToInternet: throw NotesError.offline
      default:
        await server.lost(address)
        throw NotesError.unreachable
      }
    }
  }
}

extension ServerRequest {
  var id: Note.ID? {
    switch self {
    case .list: nil
    case .get(let id): id
    case .put(let note, over: _), .delete(let note): note.id
    }
  }

  fileprivate func http(to address: URL, token: String?) -> URLRequest {
    var url = address.appending(path: "notes")
    if let id { url.append(path: id) }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    switch self {
    case .list, .get: break
    case .put(let note, let old):
      request.httpMethod = "PUT"
      request.httpBody = try? JSONEncoder().encode(note)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      if let old {
        request.setValue("\"\(old.tag)\"", forHTTPHeaderField: "If-Match")
      } else {
        request.setValue("*", forHTTPHeaderField: "If-None-Match")
      }
    case .delete(let note):
      request.httpMethod = "DELETE"
      request.setValue("\"\(note.tag)\"", forHTTPHeaderField: "If-Match")
    }
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    return request
  }
}
