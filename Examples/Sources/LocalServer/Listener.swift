import Foundation

/// A socket on loopback, and a thread for each of a bounded number of connections.
package struct Listener: Sendable {
  /// Another program listens on the port already.
  package struct PortIsTaken: Error, CustomStringConvertible {
    package let port: UInt16

    package var description: String { "cannot listen on port \(port)" }
  }

  package let port: UInt16
  private let socket: Int32

  /// Listens on a port, 0 for any that is free.
  package init(port: UInt16) throws(PortIsTaken) {
    let socket = Foundation.socket(AF_INET, number(SOCK_STREAM), 0)
    var isOn: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return bind(socket, address, length) == 0 && listen(socket, 64) == 0
          && getsockname(socket, address, &length) == 0
      }
    }
    guard isListening else { throw PortIsTaken(port: port) }
    self.socket = socket
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// The address of the server, for a client on this machine.
  package var address: String { "http://127.0.0.1:\(port)" }

  /// Answers until the process ends. A client waits for a connection when all are in use.
  ///
  /// A request for another host, or from a page of another site, is answered here.
  package func run(
    answer: @escaping @Sendable (HTTPRequest) throws(HTTPAnswer) -> HTTPReply
  ) -> Never {
    // A client that goes away in the middle of an answer is nothing to die of.
    signal(SIGPIPE, SIG_IGN)
    let free = DispatchSemaphore(value: 64)
    while true {
      free.wait()
      let socket = accept(socket, nil, nil)
      Thread {
        var connection = Connection(socket: socket)
        connection.serve { request throws(HTTPAnswer) in
          try request.check(port: port)
          return try answer(request)
        }
        free.signal()
      }.start()
    }
  }
}

/// One platform gives these constants as numbers, and another as cases.
func number(_ constant: some BinaryInteger) -> Int32 { Int32(constant) }
func number<Constant: RawRepresentable>(_ constant: Constant) -> Int32
where Constant.RawValue: BinaryInteger {
  Int32(constant.rawValue)
}
