import Foundation
import Testing

/// A playground in a process of its own, which ends with the test.
final class PlaygroundProcess: Sendable {
  let address: String
  private let process = Process()

  init() throws {
    let output = Pipe()
    process.executableURL = products.appending(path: "playground")
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    address = line.trimmingCharacters(in: .newlines)
    try #require(address.hasPrefix("http://127.0.0.1:"))
  }

  // It is not waited for: on Linux, a process that was started meanwhile, such as the browser,
  // inherits what tells of its end.
  deinit { end() }

  func end() { kill(process.processIdentifier, SIGKILL) }

  /// The memory that it holds, in megabytes.
  var memory: Int {
    get throws {
      let file = "/proc/\(process.processIdentifier)/statm"
      let pages = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ")
      return try #require(pages.count > 1 ? Int(pages[1]) : nil) * 4 / 1024
    }
  }
}

/// The folder of the executables: that of the tests.
let products: URL = {
  let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
  return (bundle ?? Bundle.main.executableURL ?? URL(filePath: "/")).deletingLastPathComponent()
}()
