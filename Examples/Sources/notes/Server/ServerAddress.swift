import Foundation

/// Where the server is: where somebody says, or in a process of our own, which is started when it
/// is needed, also when the last one has died.
actor ServerAddress {
  enum Kind: Sendable {
    case given(URL)
    case own(file: String)
  }

  private let kind: Kind
  private let folder: URL?
  private var own: (process: Process, input: Pipe, url: URL)?
  private var starting: Task<URL, any Error>?

  /// `folder` has the executable of the server: it stands beside this one.
  init(
    _ kind: Kind, folder: URL? = Bundle.main.executableURL?.deletingLastPathComponent()
  ) {
    self.kind = kind
    self.folder = folder
  }

  var processIdentifier: Int32? { own?.process.processIdentifier }

  func url() async throws -> URL {
    switch kind {
    case .given(let url): return url
    case .own(let file):
      if let own { return own.url }
      // Whoever asks meanwhile waits for the same process.
      if let starting { return try await starting.value }
      let task = Task { try await start(file) }
      starting = task
      defer { starting = nil }
      return try await task.value
    }
  }

  /// Nobody answers there: the next who asks starts another process. If this one is alive all the
  /// same, it ends when it is let go.
  func lost(_ url: URL) {
    if own?.url == url { own = nil }
  }

  /// Ends the process that was started, and returns when it has ended.
  func close() {
    guard let own else { return }
    self.own = nil
    try? own.input.fileHandleForWriting.close()
    own.process.waitUntilExit()
  }

  private func start(_ file: String) async throws -> URL {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = folder?.appending(path: "notes-server")
    process.arguments = ["--attached", "--file", file]
    process.standardInput = input
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw Failure(message: "cannot start notes-server: \(error.localizedDescription)")
    }
    let line = await firstLine(of: output.fileHandleForReading)
    // A server that has the file and is about to end leaves no address.
    guard let line else { throw Failure(message: "notes-server has not started") }
    guard let url = URL(string: line), url.host() != nil else { throw NotesError.unreachable }
    own = (process, input, url)
    return url
  }
}

private func firstLine(of file: FileHandle) async -> String? {
  await withCheckedContinuation { continuation in
    Thread {
      var bytes = Data()
      while bytes.last != 0x0A, let byte = try? file.read(upToCount: 1), !byte.isEmpty {
        bytes += byte
      }
      let line = bytes.last == 0x0A ? String(decoding: bytes.dropLast(), as: UTF8.self) : nil
      continuation.resume(returning: line)
    }.start()
  }
}
