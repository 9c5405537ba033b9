import Foundation

/// A socket on loopback, and a thread for each of a bounded number of connections.
struct Listener: Sendable {
  let port: UInt16
  private let socket: Int32

  /// Listens on a port, 0 for any that is free.
  init(port: UInt16) throws(Failure) {
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
    guard isListening else { throw Failure("cannot listen on port \(port)") }
    self.socket = socket
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Answers until the process ends. Who comes when all connections are in use waits for one.
  func run(answer: @escaping @Sendable (HTTPRequest) throws(HTTPAnswer) -> HTTPAnswer) -> Never {
    let free = DispatchSemaphore(value: 64)
    while true {
      free.wait()
      let socket = accept(socket, nil, nil)
      Thread {
        Connection(socket: socket).serve(answer)
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
