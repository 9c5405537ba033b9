import Foundation
import Synchronization
import Testing

/// A headless browser, driven over a pair of pipes. It ends with the test.
final class Chromium: Sendable {
  struct Complaint: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var last = 0
    var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
    var session: String?
    var complaints: [String] = []
    var isOver = false
  }

  static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  private let process = Process()
  private let folder: String
  private let requests: Int32
  private let replies: Int32
  private let state = Mutex(State())

  init() throws {
    let folder = NSTemporaryDirectory() + "chromium-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let names = ["in", "out"].map { "\(folder)/\($0)" }
    for name in names where mkfifo(name, 0o600) != 0 {
      throw Complaint(description: "cannot make the pipe \(name)")
    }
    // For reading and writing, which waits for nobody at the other end.
    let files = names.map { Foundation.open($0, O_RDWR | O_CLOEXEC) }
    (self.folder, requests, replies) = (folder, files[0], files[1])
    process.executableURL = URL(filePath: "/bin/sh")
    guard let browser = Self.path else { throw Complaint(description: "there is no browser") }
    process.arguments = [
      "-c", "exec \"$0\" \"$@\" 3<'\(names[0])' 4>'\(names[1])' 2>/dev/null", browser,
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile", "about:blank",
    ]
    process.terminationHandler = { [weak self] _ in self?.end() }
    try process.run()
    Thread { [weak self] in Self.read(files[1]) { self?.hear($0) } }.start()
  }

  deinit {
    process.terminationHandler = nil
    kill(process.processIdentifier, SIGKILL)
    // An empty message wakes the thread that reads, which finds nobody who listens.
    _ = write(replies, [0], 1)
    close(requests)
    // Its other processes end soon after, and write into the folder until then.
    var attempts = 0
    while attempts < 100, (try? FileManager.default.removeItem(atPath: folder)) == nil {
      attempts += 1
      usleep(20_000)
    }
  }

  /// The errors of the page, in words.
  var complaints: [String] { state.withLock { $0.complaints } }

  /// Reads messages, each with a zero behind it, for as long as somebody listens.
  private static func read(_ file: Int32, _ hear: (Data) -> Void?) {
    defer { close(file) }
    var rest = Data()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Foundation.read(file, &buffer, buffer.count)
      guard count > 0 else { return }
      rest += buffer.prefix(count)
      while let end = rest.firstIndex(of: 0) {
        guard hear(Data(rest[..<end])) != nil else { return }
        rest = Data(rest[rest.index(after: end)...])
      }
    }
  }

  private struct Message: Decodable {
    struct Failure: Decodable { let message: String }
    struct Parameters: Decodable {
      struct Exception: Decodable {
        struct Details: Decodable { let description: String? }
        let text: String
        let exception: Details?
      }
      struct Entry: Decodable {
        let level: String
        let text: String
      }
      let exceptionDetails: Exception?
      let entry: Entry?
    }

    let id: Int?
    let error: Failure?
    let params: Parameters?
  }

  private func hear(_ data: Data) {
    guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return }
    if let exception = message.params?.exceptionDetails {
      let words = exception.exception?.description ?? exception.text
      state.withLock { $0.complaints.append(words) }
    }
    if let entry = message.params?.entry, entry.level == "error" {
      state.withLock { $0.complaints.append(entry.text) }
    }
    guard let id = message.id else { return }
    let waiting = state.withLock { $0.waiting.removeValue(forKey: id) }
    if let error = message.error {
      waiting?.resume(throwing: Complaint(description: error.message))
    } else {
      waiting?.resume(returning: data)
    }
  }

  private func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for one in waiting { one.resume(throwing: Self.hasEnded) }
  }

  private static let hasEnded = Complaint(description: "the browser has ended")

  private func cancel(_ id: Int) {
    let waiting = state.withLock { $0.waiting.removeValue(forKey: id) }
    waiting?.resume(throwing: CancellationError())
  }

  private struct Request<Parameters: Encodable>: Encodable {
    let id: Int
    let method: String
    let params: Parameters
    let sessionId: String?
  }

  private struct Reply<Result: Decodable>: Decodable { let result: Result }

  @discardableResult
  private func call<Result: Decodable>(
    _ method: String, _ parameters: some Encodable & Sendable, returning: Result.Type = Nothing.self
  ) async throws -> Result {
    let (id, session) = state.withLock { state in
      state.last += 1
      return (state.last, state.session)
    }
    let request = Request(id: id, method: method, params: parameters, sessionId: session)
    let bytes = try Array(JSONEncoder().encode(request)) + [0]
    let data = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          if !state.isOver { state.waiting[id] = continuation }
          return state.isOver
        }
        if isOver { return continuation.resume(throwing: Self.hasEnded) }
        // Shorter than a pipe holds, so that it is written at once.
        _ = write(requests, bytes, bytes.count)
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
    return try JSONDecoder().decode(Reply<Result>.self, from: data).result
  }
}

private struct Nothing: Codable {}

/// The page of a browser.
extension Chromium {
  private struct Target: Decodable { let targetId: String }
  private struct Attachment: Decodable { let sessionId: String }

  /// The tab that is driven. Without one, the next page opens in a new tab.
  var tab: String? {
    get { state.withLock { $0.session } }
    set { state.withLock { $0.session = newValue } }
  }

  /// Opens a page, and returns when it has been loaded.
  func open(_ address: String, width: Int = 1280, height: Int = 900) async throws {
    if tab == nil {
      let target = try await call(
        "Target.createTarget", ["url": "about:blank"], returning: Target.self)
      struct Parameters: Encodable { let targetId: String, flatten = true }
      let attachment = try await call(
        "Target.attachToTarget", Parameters(targetId: target.targetId), returning: Attachment.self)
      tab = attachment.sessionId
      for domain in ["Page", "Runtime", "Log"] { try await call("\(domain).enable", Nothing()) }
      try await call("Emulation.setFocusEmulationEnabled", ["enabled": true])
    }
    try await resize(width, height)
    try await call("Page.navigate", ["url": address])
    try await until("location.href.startsWith('\(address)') && document.readyState == 'complete'")
  }

  func resize(_ width: Int, _ height: Int) async throws {
    struct Parameters: Encodable {
      let width: Int, height: Int, deviceScaleFactor = 1, mobile: Bool
    }
    try await call(
      "Emulation.setDeviceMetricsOverride",
      Parameters(width: width, height: height, mobile: width < 600))
  }

  func prefer(_ scheme: String) async throws {
    struct Parameters: Encodable {
      let features: [[String: String]]
    }
    let feature = ["name": "prefers-color-scheme", "value": scheme]
    try await call("Emulation.setEmulatedMedia", Parameters(features: [feature]))
  }

  /// The visible part of the page, as a PNG.
  func picture() async throws -> Data {
    struct Picture: Decodable { let data: Data }
    return try await call("Page.captureScreenshot", ["format": "png"], returning: Picture.self)
      .data
  }

  /// Strikes a key as a hand does.
  func strike(
    _ key: String, text: String? = nil, code: Int? = nil, isShifted: Bool = false
  ) async throws {
    struct Parameters: Encodable {
      let type: String, key: String, text: String?, windowsVirtualKeyCode: Int?, modifiers: Int
    }
    let modifiers = isShifted ? 8 : 0
    let text = text ?? (key.count == 1 ? key : nil)
    try await call(
      "Input.dispatchKeyEvent",
      Parameters(
        type: "keyDown", key: key, text: text, windowsVirtualKeyCode: code, modifiers: modifiers))
    try await call(
      "Input.dispatchKeyEvent",
      Parameters(
        type: "keyUp", key: key, text: nil, windowsVirtualKeyCode: code, modifiers: modifiers))
  }

  private struct Expression: Encodable {
    let expression: String
    var awaitPromise = true
    var returnByValue = true
  }

  private struct Evaluation<Value: Decodable>: Decodable {
    struct Object: Decodable { let value: Value? }
    struct Exception: Decodable {
      struct Details: Decodable { let description: String? }
      let text: String
      let exception: Details?
    }
    let result: Object
    let exceptionDetails: Exception?
  }

  /// The value of an expression in the page, that of a promise when it is there.
  @discardableResult
  func evaluate<Value: Decodable>(
    _ expression: String, as type: Value.Type = Bool.self
  ) async throws -> Value {
    let evaluation = try await call(
      "Runtime.evaluate", Expression(expression: expression), returning: Evaluation<Value>.self)
    if let exception = evaluation.exceptionDetails {
      throw Complaint(description: exception.exception?.description ?? exception.text)
    }
    return try #require(evaluation.result.value, "no value: \(expression)")
  }

  /// Does something in the page.
  func run(_ statements: String) async throws {
    try await evaluate("(() => { \(statements) })(), true")
  }

  /// Waits until an expression is true, which is asked at each frame.
  func until(_ condition: String) async throws {
    try await evaluate(
      """
      new Promise((done) => {
        const look = () => (\(condition)) ? done(true) : requestAnimationFrame(look);
        look();
      })
      """)
  }
}
