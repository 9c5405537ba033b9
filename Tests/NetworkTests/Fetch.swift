import Foundation
import UseCase

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A use case as an app has it: the text at an address.
struct Fetch: UseCase {
  let server: LocalServer
  let session = URLSession(configuration: .ephemeral)
  var queue = UseCaseQueue()
  var timeout = UseCaseTimeout.never

  func main(_ path: String) async throws -> String {
    let (data, response) = try await session.data(from: server.url(path))
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw Status(code: status) }
    return String(decoding: data, as: UTF8.self)
  }
}

struct Status: Error, Equatable {
  let code: Int
}
