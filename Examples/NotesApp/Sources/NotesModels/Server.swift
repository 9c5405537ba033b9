import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

package enum ServerError: Error, Equatable, CustomStringConvertible {
  case away
  case refused(Int)

  package var description: String {
    switch self {
    case .away: "The server is away."
    case .refused(let status): "The server answered with the status \(status)."
    }
  }
}

/// The only lines that talk to the network.
package struct Server: Sendable {
  let root: URL

  package init(_ root: URL) { self.root = root }

  func get<Answer: Decodable>(
    _ path: String, _ name: String? = nil, _ value: String = ""
  ) async throws -> Answer {
    let url = root.appending(path: path)
    let items = name.map { [URLQueryItem(name: $0, value: value)] } ?? []
    return try await send(URLRequest(url: url.appending(queryItems: items)))
  }

  /// A request that is sent twice changes nothing the second time.
  func put<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
    var request = URLRequest(url: root.appending(path: path))
    request.httpMethod = "PUT"
    request.httpBody = try JSONEncoder().encode(body)
    return try await send(request)
  }

  private func send<Answer: Decodable>(_ request: URLRequest) async throws -> Answer {
    let answer: (data: Data, response: URLResponse)
    do {
      answer = try await URLSession.shared.data(for: request)
    } catch is URLError {
      throw ServerError.away
    }
    let status = (answer.response as? HTTPURLResponse)?.statusCode ?? 0
    if status == 503 { throw ServerError.away }
    guard status == 200 else { throw ServerError.refused(status) }
    return try JSONDecoder().decode(Answer.self, from: answer.data)
  }
}
