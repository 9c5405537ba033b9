package import Foundation

/// The answer of the server, also to a request that it does not understand.
package struct HTTPAnswer: Error, Equatable {
  package var status: Int
  package var headers: [String: String] = [:]
  package var body = Data()

  /// An answer in words.
  package init(_ status: Int, _ words: String, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
    self.headers["Content-Type"] = "text/plain; charset=utf-8"
    body = Data((words + "\n").utf8)
  }

  /// An answer in JSON, with the tag of what it shows.
  package init(_ status: Int, json value: some Encodable, tag: String? = nil) throws(HTTPAnswer) {
    guard let data = try? JSONEncoder().encode(value) else {
      throw HTTPAnswer(500, "the answer cannot be written")
    }
    self.status = status
    headers["Content-Type"] = "application/json"
    headers["ETag"] = tag.map { "\"\($0)\"" }
    body = data
  }

  /// An answer of any type.
  package init(_ status: Int, _ body: Data, type: String, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
    self.headers["Content-Type"] = type
    self.body = body
  }

  /// Everything is said by the status.
  package init(_ status: Int) {
    self.status = status
  }

  package static func bad(_ words: String) -> HTTPAnswer { HTTPAnswer(400, words) }

  static var foreign: HTTPAnswer { HTTPAnswer(403, "a page of another site may not ask this") }

  static var headTooLong: HTTPAnswer {
    HTTPAnswer(431, "a head may have \(HTTPRequestParser.longestHead) bytes")
  }

  /// The answer as it is sent. Each connection is for one request.
  var bytes: Data {
    if status == 204 { return head + Data("\r\n".utf8) }
    return head + Data("Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  /// The lines before the length of the body.
  var head: Data {
    var head = "HTTP/1.1 \(status) \r\nConnection: close\r\n"
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      head += "\(name): \(value)\r\n"
    }
    return Data(head.utf8)
  }
}

/// The reply of a server to a request.
package enum HTTPReply: Sendable {
  case whole(HTTPAnswer)

  /// Server-sent events, for as long as the client listens.
  case events(any EventFeed)
}

/// Events for one client, taken by the thread of its connection.
package protocol EventFeed: Sendable {
  /// Returns the events that nobody has taken yet, as they are sent. Waits for one until the
  /// deadline at the most. Returns nil at the end of the feed.
  func take(until deadline: Date) -> String?

  /// Hears that the client is gone.
  func close()
}
