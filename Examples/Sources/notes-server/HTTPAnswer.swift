import Foundation

/// The answer of the server, also to a request that it does not understand.
struct HTTPAnswer: Error, Equatable {
  var status: Int
  var headers: [String: String] = [:]
  var body = Data()

  /// An answer in words.
  init(_ status: Int, _ words: String, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
    self.headers["Content-Type"] = "text/plain; charset=utf-8"
    body = Data((words + "\n").utf8)
  }

  /// An answer in JSON; `tag` is that of the note in it.
  init(_ status: Int, json value: some Encodable, tag: String? = nil) throws(HTTPAnswer) {
    guard let data = try? JSONEncoder().encode(value) else {
      throw HTTPAnswer(500, "the answer cannot be written")
    }
    self.status = status
    headers["Content-Type"] = "application/json"
    headers["ETag"] = tag.map { "\"\($0)\"" }
    body = data
  }

  /// Everything is said by the status.
  init(_ status: Int) {
    self.status = status
  }

  static func bad(_ words: String) -> HTTPAnswer { HTTPAnswer(400, words) }

  static var headTooLong: HTTPAnswer {
    HTTPAnswer(431, "a head may have \(HTTPRequestParser.longestHead) bytes")
  }

  /// The answer as it is sent. Each connection is for one request.
  var bytes: Data {
    var head = "HTTP/1.1 \(status) \r\nConnection: close\r\n"
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      head += "\(name): \(value)\r\n"
    }
    if status == 204 { return Data("\(head)\r\n".utf8) }
    return Data("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }
}
