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
  private let send: @Sendable (URLRequest) async throws -> (Data, URLResponse)

  package init(
    _ root: URL,
    send: @escaping @Sendable (URLRequest) async throws -> (Data, URLResponse) = { request in
      try await URLSession.shared.data(for: request)
    }
  ) {
    (self.root, self.send) = (root, send)
  }

  func get<Answer: Decodable>(
    _ path: String, _ name: String? = nil, _ value: String = ""
  ) async throws -> Answer {
    let url = root.appending(path: path)
    let items = name.map { [URLQueryItem(name: $0, value: value)] } ?? []
    return try await call(URLRequest(url: url.appending(queryItems: items)))
  }

  /// A request that is sent twice changes nothing the second time.
  func put<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
    var request = URLRequest(url: root.appending(path: path))
    request.httpMethod = "PUT"
    request.httpBody = try JSONEncoder().encode(body)
    return try await call(request)
  }

  private func call<Answer: Decodable>(_ request: URLRequest) async throws -> Answer {
    let answer: (data: Data, response: URLResponse)
    do {
      answer = try await send(request)
    } catch is URLError {
      throw ServerError.away
    }
    let status = (answer.response as? HTTPURLResponse)?.statusCode ?? 0
    if status == 503 { throw ServerError.away }
    guard status == 200 else { throw ServerError.refused(status) }
    return try JSONDecoder().decode(Answer.self, from: answer.data)
  }
}
