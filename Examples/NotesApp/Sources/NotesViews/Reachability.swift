#if canImport(Network)
  import Network

  /// Whether there is a network, now and after each change.
  func reachability() -> AsyncStream<Bool> {
    AsyncStream { continuation in
      let monitor = NWPathMonitor()
      monitor.pathUpdateHandler = { path in continuation.yield(path.status == .satisfied) }
      continuation.onTermination = { _ in monitor.cancel() }
      monitor.start(queue: .global())
    }
  }
#else
  /// Nothing tells: it stays as it is.
  func reachability() -> AsyncStream<Bool> { AsyncStream { $0.finish() } }
#endif
