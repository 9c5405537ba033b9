import Foundation

/// A connection for one request. A client that neither writes nor reads holds it for a few seconds
/// at the most.
struct Connection {
  static let patience: TimeInterval = 10

  /// How long a feed of events may be silent. A client that has gone is noticed at the end of it.
  static let silence: TimeInterval = 1

  let socket: Int32
  private var deadline = Date(timeIntervalSinceNow: patience)

  init(socket: Int32) {
    self.socket = socket
  }

  mutating func serve(_ answer: (HTTPRequest) throws(HTTPAnswer) -> HTTPReply) {
    guard socket >= 0 else { return }
    defer { close(socket) }
    do throws(HTTPAnswer) {
      guard let request = try read() else { return }
      switch try answer(request) {
      case .whole(let answer): write(answer.bytes)
      case .events(let feed): return stream(feed)
      }
    } catch {
      write(error.bytes)
    }
    // To close while the client still writes would take the answer from it.
    shutdown(socket, Int32(SHUT_WR))
    var rest = 64 * 1024
    while rest > 0, let bytes = receive(), !bytes.isEmpty { rest -= bytes.count }
  }

  /// Returns nil when the client goes away before it has asked for anything.
  private func read() throws(HTTPAnswer) -> HTTPRequest? {
    var parser = HTTPRequestParser()
    var isEmpty = true
    while true {
      guard let bytes = receive() else { throw HTTPAnswer(408, "the request took too long") }
      if bytes.isEmpty {
        if isEmpty { return nil }
        throw .bad("the request ends too early")
      }
      isEmpty = false
      if let request = try parser.parse(bytes) { return request }
    }
  }

  /// Returns what has arrived, nothing at the end, and nil when time is up.
  private func receive() -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var count: Int
    repeat {
      guard wait(for: POLLIN) else { return nil }
      count = recv(socket, &buffer, buffer.count, 0)
    } while count < 0 && errno == EINTR
    return buffer.prefix(max(0, count))
  }

  private mutating func stream(_ feed: any EventFeed) {
    defer { feed.close() }
    let headers = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
    var answer = HTTPAnswer(200)
    answer.headers = headers
    guard write(answer.head + Data("\r\n".utf8)) else { return }
    while let events = feed.take(until: Date(timeIntervalSinceNow: Self.silence)) {
      deadline = Date(timeIntervalSinceNow: Self.patience)
      // A comment, which a client skips, shows whether there is a client.
      guard write(Data((events.isEmpty ? ":\n\n" : events).utf8)) else { return }
    }
  }

  /// Returns whether the client has taken everything.
  @discardableResult
  private func write(_ data: Data) -> Bool {
    data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bool in
      var rest = bytes[...]
      while !rest.isEmpty, wait(for: POLLOUT) {
        let bytes = UnsafeRawBufferPointer(rebasing: rest)
        // Not more than fits: the rest would be waited for without an end.
        let count = send(socket, bytes.baseAddress, bytes.count, number(MSG_DONTWAIT))
        if count < 0, errno != EINTR, errno != EAGAIN { return false }
        rest = rest.dropFirst(max(0, count))
      }
      return rest.isEmpty
    }
  }

  private func wait(for events: some BinaryInteger) -> Bool {
    var ready = pollfd(fd: socket, events: Int16(events), revents: 0)
    while true {
      let milliseconds = Int32(max(0, deadline.timeIntervalSinceNow * 1000).rounded(.up))
      let count = poll(&ready, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      return count > 0
    }
  }
}
