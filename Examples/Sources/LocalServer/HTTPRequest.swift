import Foundation

/// A request whose head and body have arrived.
package struct HTTPRequest: Equatable, Sendable {
  package var method: String
  package var target: String
  /// The names are in small letters.
  package var headers: [String: String] = [:]
  package var body: [UInt8] = []

  package init(
    method: String, target: String, headers: [String: String] = [:], body: [UInt8] = []
  ) {
    (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
  }

  /// Throws unless the request is meant for this server, and comes from no page of another one.
  ///
  /// A page of another site can send requests to a port of this machine, and its site can give the
  /// address of this machine for a name of its own. A browser says so in these headers; a program
  /// without a browser leaves out all but `Host`.
  func check(port: UInt16) throws(HTTPAnswer) {
    let names = ["127.0.0.1", "localhost"].map { port == 80 ? $0 : "\($0):\(port)" }
    guard let host = headers["host"]?.lowercased() else { throw .bad("there is no header Host") }
    guard names.contains(host) else { throw HTTPAnswer(421, "this server is \(names[0])") }
    if let origin = headers["origin"]?.lowercased() {
      guard names.contains(where: { origin == "http://\($0)" }) else { throw .foreign }
    }
    let isNavigation = method == "GET" && headers["sec-fetch-mode"] == "navigate"
    guard let site = headers["sec-fetch-site"], !isNavigation else { return }
    guard site == "same-origin" || site == "none" else { throw .foreign }
  }
}

/// Reads a request from bytes as they arrive, up to a limit.
package struct HTTPRequestParser {
  package static let longestHead = 8 * 1024
  package static let longestBody = 16 * 1024

  private var bytes: [UInt8] = []
  private var head: (request: HTTPRequest, bodyLength: Int)?

  package init() {}

  /// Takes some more bytes, and returns the request when it is whole.
  package mutating func parse(_ more: some Sequence<UInt8>) throws(HTTPAnswer) -> HTTPRequest? {
    let searched = bytes.count
    bytes += more
    if head == nil {
      guard let end = Self.endOfHead(bytes, from: max(0, searched - 3)) else {
        if bytes.count > Self.longestHead { throw .headTooLong }
        return nil
      }
      if end > Self.longestHead { throw .headTooLong }
      head = try Self.parse(head: bytes[..<(end - 4)])
      bytes.removeFirst(end)
    }
    guard let head, bytes.count >= head.bodyLength else { return nil }
    var request = head.request
    // More requests on the same connection are not answered.
    request.body = Array(bytes.prefix(head.bodyLength))
    return request
  }

  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    let end: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= start + 4 else { return nil }
    return (start...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual(end) }
      .map { $0 + 4 }
  }

  private static func parse(
    head bytes: ArraySlice<UInt8>
  ) throws(HTTPAnswer) -> (HTTPRequest, Int) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .bad("the head is not UTF-8")
    }
    var lines = text.components(separatedBy: "\r\n")[...]
    guard !lines.contains(where: { $0.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F } }) else {
      throw .bad("there is a control character in the head")
    }
    let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, isToken(words[0]), words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/")
    else { throw .bad("the first line is not of the form METHOD /TARGET HTTP/1.1") }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
      throw HTTPAnswer(505, "this server speaks HTTP/1.1")
    }
    var request = HTTPRequest(method: String(words[0]), target: String(words[1]))
    for line in lines {
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      let name = line[..<colon].lowercased()
      let value = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
      guard colon < line.endIndex, isToken(name) else {
        throw .bad("a header is not of the form NAME: VALUE")
      }
      guard request.headers.updateValue(value, forKey: name) == nil || !isSingle(name) else {
        throw .bad("there are two headers \(name)")
      }
    }
    return (request, try bodyLength(of: request))
  }

  private static func bodyLength(of request: HTTPRequest) throws(HTTPAnswer) -> Int {
    guard request.headers["transfer-encoding"] == nil else {
      throw HTTPAnswer(501, "send a body with a Content-Length")
    }
    guard let length = request.headers["content-length"] else { return 0 }
    guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .bad("Content-Length is not a number")
    }
    guard let length = Int(length), length <= longestBody else {
      throw HTTPAnswer(413, "a body may have \(longestBody) bytes")
    }
    return length
  }

  /// Two of these would mean two things to two readers.
  private static func isSingle(_ name: String) -> Bool {
    [
      "authorization", "content-length", "host", "if-match", "if-none-match", "origin",
      "sec-fetch-mode", "sec-fetch-site",
    ].contains(name)
  }

  private static func isToken(_ text: some StringProtocol) -> Bool {
    let others = "()<>@,;:\\\"/[]?={} \t"
    return !text.isEmpty && text.allSatisfy { $0.isASCII && !others.contains($0) }
  }
}
