import Foundation
import NotesWire
import Synchronization
import Testing
import UseCase

@testable import notes

/// A folder that goes away with the test.
final class Folder {
  let path = NSTemporaryDirectory() + "notes-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var file: String { path + "/notes" }
}

/// A server in a process of its own. It ends with the test, however that ends, since its standard
/// input does.
final class ServerProcess {
  let process = Process()
  let port: any UseCase<ServerRequest, [Note]>
  private let input = Pipe()
  private let end: AsyncStream<Never>

  /// `space` is how much the server can write, in blocks.
  init(file: String, space: Int? = nil) throws {
    let output = Pipe()
    let server = products.appending(path: "notes-server").path()
    let limit = space.map { "trap '' XFSZ; ulimit -f \($0); " } ?? ""
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", limit + "exec \"$0\" --attached --file \"$1\"", server, file]
    process.standardInput = input
    process.standardOutput = output
    let (end, hasEnded) = AsyncStream.makeStream(of: Never.self)
    self.end = end
    process.terminationHandler = { _ in hasEnded.finish() }
    try process.run()
    // It says where it is when it is ready.
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let url = try #require(URL(string: line.trimmingCharacters(in: .newlines)))
    port = CallServer(
      server: ServerAddress(.given(url)), credentials: Credentials(), timeout: .seconds(120))
  }

  func kill() async {
    Foundation.kill(process.processIdentifier, SIGKILL)
    await ended()
  }

  func ended() async {
    for await _ in end {}
  }

  func close() async throws {
    try input.fileHandleForWriting.close()
    await ended()
  }
}

/// A port that lasts longer than the server behind it, and knows which notes that has acknowledged.
final class Road: UseCase {
  private struct State {
    var port: any UseCase<ServerRequest, [Note]>
    var arrived = 0
    var held: (number: Int, until: AsyncStream<Never>)?
    var acknowledged: [Note] = []
  }

  private let state: Mutex<State>

  init(to port: any UseCase<ServerRequest, [Note]>) {
    state = Mutex(State(port: port))
  }

  var acknowledged: [Note] { state.withLock { $0.acknowledged } }

  func lead(to port: any UseCase<ServerRequest, [Note]>) {
    state.withLock { $0.port = port }
  }

  /// Keeps the request with this number back, counted from 1, until the stream ends.
  func hold(_ number: Int, until end: AsyncStream<Never>) {
    state.withLock { $0.held = (number, end) }
  }

  func main(_ request: ServerRequest) async throws -> [Note] {
    let (port, end) = state.withLock { state in
      state.arrived += 1
      return (state.port, state.held?.number == state.arrived ? state.held?.until : nil)
    }
    if let end { for await _ in end {} }
    let answer = try await port(request)
    if case .put(let note, over: nil) = request {
      state.withLock { $0.acknowledged.append(note) }
    }
    return answer
  }
}

/// Where the executables are: beside the tests.
let products: URL = {
  let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
  return (bundle ?? Bundle.main.executableURL ?? URL(filePath: "/")).deletingLastPathComponent()
}()
