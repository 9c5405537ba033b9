import Dispatch
import Foundation
import TestSupport

/// A small HTTP server on the loopback device, on a port that the system chooses.
///
/// It answers one request on each connection, with what its closure returns. Nothing of it waits
/// in a thread, and it ends with its last reference.
final class LocalServer: Sendable {
  struct Answer: Sendable {
    var status = 200
    var body = ""
  }

  /// The path of each request that has arrived, in order.
  let requests = Log<String>()

  /// The path of each request whose client has closed the connection before the answer.
  let hangUps = Log<String>()

  private let port: UInt16
  private let listener: Int32
  // Safe: after `init` it is only cancelled, which any thread may do.
  nonisolated(unsafe) private let source: (any DispatchSourceRead)?

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - isListening: Whether it accepts connections. If not, it holds a port at which the system
  ///     refuses them.
  ///   - answer: Called in a task of its own for the path of each request.
  /// - Throws: `POSIXError` if there is no port.
  init(
    isListening: Bool = true,
    answer: @escaping @Sendable (_ path: String) async -> Answer = { _ in Answer() }
  ) throws {
    (listener, port) = try Self.bindToLoopback()
    guard isListening else {
      source = nil
      return
    }
    guard listen(listener, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    let queue = DispatchQueue(label: "LocalServer")
    let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: queue)
    source.setEventHandler { [listener, requests, hangUps] in
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      Connection(client, on: queue, requests, hangUps, answer).start()
    }
    source.setCancelHandler { [listener] in close(listener) }
    source.activate()
    self.source = source
  }

  deinit {
    if let source { source.cancel() } else { close(listener) }
  }

  /// The address of a path on this server.
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
    return url
  }

  private static func bindToLoopback() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Darwin)
      let socket = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
      }
    }
    guard socket >= 0, isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    return (socket, UInt16(bigEndian: address.sin_port))
  }
}

/// One client of the server. All of it happens on the queue of the server.
private final class Connection: @unchecked Sendable {
  // Safe, as each property but `received` and `path` is constant, and these two are touched
  // on the queue only.
  private let client: Int32
  private let queue: DispatchQueue
  private let requests: Log<String>
  private let hangUps: Log<String>
  private let answer: @Sendable (String) async -> LocalServer.Answer
  private let source: any DispatchSourceRead
  private var received: [UInt8] = []
  private var path: String?

  init(
    _ client: Int32, on queue: DispatchQueue, _ requests: Log<String>, _ hangUps: Log<String>,
    _ answer: @escaping @Sendable (String) async -> LocalServer.Answer
  ) {
    self.client = client
    self.queue = queue
    self.requests = requests
    self.hangUps = hangUps
    self.answer = answer
    source = DispatchSource.makeReadSource(fileDescriptor: client, queue: queue)
  }

  /// Reads until the client hangs up. The source keeps the connection alive until then.
  func start() {
    #if canImport(Darwin)
      var isOn: Int32 = 1
      setsockopt(client, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    #endif
    source.setEventHandler { self.read() }
    source.setCancelHandler { [client] in close(client) }
    source.activate()
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(client, &bytes, bytes.count, 0)
    guard count > 0, received.count < 65_536 else { return hangUp() }
    received += bytes.prefix(count)
    guard path == nil, let text = String(bytes: received, encoding: .utf8),
      text.contains("\r\n\r\n")
    else { return }
    let words = text.split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count == 3 else { return source.cancel() }
    path = words[1]
    requests.append(words[1])
    Task { [answer, queue] in
      let answer = await answer(words[1])
      queue.async { self.send(answer) }
    }
  }

  private func hangUp() {
    if let path, !source.isCancelled { hangUps.append(path) }
    source.cancel()
  }

  private func send(_ answer: LocalServer.Answer) {
    guard !source.isCancelled else { return }
    let text =
      "HTTP/1.1 \(answer.status) Answer\r\nContent-Length: \(answer.body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(answer.body)"
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    let bytes = Array(text.utf8)
    _ = Foundation.send(client, bytes, bytes.count, flags)
    source.cancel()
  }
}
