import Foundation
import Synchronization
import Testing

@testable import LocalServer

/// A client that sends what it likes, and reads to the end.
private struct RawClient {
  private let file: Int32

  init(port: UInt16) throws {
    file = socket(AF_INET, number(SOCK_STREAM), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(file, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    var patience = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    send(file, bytes, bytes.count, 0)
  }

  func shutDown() { shutdown(file, number(SHUT_WR)) }
  func hangUp() { close(file) }

  /// Reads until the text ends with this, or until the server closes the connection.
  func read(through end: String? = nil) -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(file, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      text += buffer.prefix(count)
      if let end, text.suffix(end.utf8.count).elementsEqual(end.utf8) { break }
    }
    return String(decoding: text, as: UTF8.self)
  }

  func ask(_ text: String) -> String {
    write(text)
    shutDown()
    defer { hangUp() }
    return read()
  }
}

/// Gives what it is given, once.
private final class Feed: EventFeed {
  private let events: Mutex<[String]>
  let isOver = DispatchSemaphore(value: 0)
  let (closed, isClosed) = AsyncStream.makeStream(of: Never.self)

  init(_ events: [String]) { self.events = Mutex(events) }

  func take(until deadline: Date) -> String? {
    if let event = events.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
    let rest = DispatchTime.now() + max(0, deadline.timeIntervalSinceNow)
    return isOver.wait(timeout: rest) == .success ? nil : ""
  }

  func close() { isClosed.finish() }
}

@Suite(.timeLimit(.minutes(15)))
struct ListenerTests {
  private let listener: Listener
  private let feed = Feed(["data: 1\n\n", "data: 2\n\n"])

  init() throws {
    listener = try Listener(port: 0)
    Thread { [listener, feed] in
      listener.run { request throws(HTTPAnswer) in
        switch request.target {
        case "/events": .events(feed)
        case "/echo": .whole(HTTPAnswer(200, Data(request.body), type: "text/plain"))
        default: throw HTTPAnswer(404, "there is no such page")
        }
      }
    }.start()
  }

  private var host: String { "Host: 127.0.0.1:\(listener.port)\r\n" }

  private func ask(_ text: String) throws -> String {
    try RawClient(port: listener.port).ask(text)
  }

  @Test func `a body comes back, on a connection for one request`() throws {
    let text = try ask("POST /echo HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello")
    #expect(
      text == "HTTP/1.1 200 \r\nConnection: close\r\nContent-Type: text/plain\r\n"
        + "Content-Length: 5\r\n\r\nhello")
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost\r\n\r\n", 400), ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/3\r\n\r\n", 505),
  ])
  func `a malformed request has an answer in words`(text: String, status: Int) throws {
    let answer = try ask(text)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) \r\n"))
    #expect(answer.split(separator: "\r\n\r\n").last?.isEmpty == false)
    // The server is as good as before.
    #expect(try ask("POST /echo HTTP/1.1\r\n\(host)\r\n").contains(" 200 "))
  }

  @Test func `a name that leads to this machine is refused`() throws {
    for host in ["example.org", "127.0.0.1", "127.0.0.1:1", "localhost.example.org"] {
      let text = try ask("POST /echo HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(text.contains(" 421 "))
    }
    let text = try ask("POST /echo HTTP/1.1\r\nHost: LOCALHOST:\(listener.port)\r\n\r\n")
    #expect(text.contains(" 200 "))
  }

  @Test func `a page of another site can send nothing, and its own page can`() throws {
    let others = [
      "Origin: http://example.org", "Origin: null", "Origin: http://127.0.0.1:1",
      "Origin: https://127.0.0.1:\(listener.port)", "Sec-Fetch-Site: cross-site",
      "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate",
    ]
    for header in others {
      #expect(try ask("POST /echo HTTP/1.1\r\n\(host)\(header)\r\n\r\n").contains(" 403 "))
    }
    let own = ["Origin: http://localhost:\(listener.port)", "Sec-Fetch-Site: same-origin"]
    for header in own {
      #expect(try ask("POST /echo HTTP/1.1\r\n\(host)\(header)\r\n\r\n").contains(" 200 "))
    }
    // A link to it can be followed from anywhere.
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate"
    #expect(try ask("GET /echo HTTP/1.1\r\n\(host)\(link)\r\n\r\n").contains(" 200 "))
  }

  @Test func `events come in order, and a silence has comments`() throws {
    let client = try RawClient(port: listener.port)
    client.write("GET /events HTTP/1.1\r\n\(host)\r\n")
    let text = client.read(through: ":\n\n")
    feed.isOver.signal()
    #expect(
      text.hasPrefix(
        "HTTP/1.1 200 \r\nConnection: close\r\nCache-Control: no-store\r\n"
          + "Content-Type: text/event-stream\r\n\r\n"))
    #expect(text.contains("\r\n\r\ndata: 1\n\ndata: 2\n\n:\n\n"))
    // The server closes the connection at the end of the feed.
    _ = client.read()
    client.hangUp()
  }

  @Test func `a feed hears that its client has gone`() async throws {
    let client = try RawClient(port: listener.port)
    client.write("GET /events HTTP/1.1\r\n\(host)\r\n")
    _ = client.read(through: "data: 2\n\n")
    client.hangUp()
    for await _ in feed.closed {}
  }

  @Test func `a port that is taken has a clear answer`() throws {
    let error = #expect(throws: Listener.PortIsTaken.self) { try Listener(port: listener.port) }
    #expect(error.map { "\($0)" } == "cannot listen on port \(listener.port)")
  }
}
