import Foundation

/// Records runs of the named policies, and writes a page that replays them without a server.
///
/// A run is real: real queues, in real time. There is one for each speed of typing and each latency,
/// and all of them happen at the same time.
struct Recorder {
  static let text = "swift"
  static let intervals = [80, 160, 320]
  static let latencies = [150, 500, 1200]

  private struct Run {
    let interval: Int
    let latency: Int
    /// Events as the page takes them, in JSON.
    let events: [String]

    var json: String {
      let events = events.joined(separator: ",")
      return "{\"interval\":\(interval),\"latency\":\(latency),\"events\":[\n\(events)]}"
    }
  }

  func write(to folder: String, page: PageFiles) async throws(Failure) {
    let script = await script()
    let folder = URL(filePath: folder)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for file in page.files {
        try marked(file).write(to: folder.appending(path: file.name))
      }
      try Data(script.utf8).write(to: folder.appending(path: "recordings.js"))
    } catch {
      throw Failure("cannot write \(folder.path()): \(error.localizedDescription)")
    }
    print("Open \(folder.appending(path: "index.html").path()) in a browser.")
  }

  /// The page with its recordings: all that tells it from the page of a server.
  private func marked(_ file: PageFiles.File) -> Data {
    guard file.name == "index.html" else { return file.data }
    let mark = "<!-- recordings -->"
    let script = "<script src=\"recordings.js\" defer></script>"
    return Data(String(decoding: file.data, as: UTF8.self).replacing(mark, with: script).utf8)
  }

  /// All runs, in JavaScript.
  func script() async -> String {
    let runs = await withTaskGroup(of: Run.self) { group in
      for interval in Self.intervals {
        for latency in Self.latencies {
          group.addTask { await record(interval: interval, latency: latency) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let sorted = runs.sorted { ($0.interval, $0.latency) < ($1.interval, $1.latency) }
    let rows = NamedPolicy.all.map(\.row).json
    let grid = sorted.map(\.json).joined(separator: ",\n")
    return "window.recordings = {\"rows\":\(rows),\"runs\":[\n\(grid)\n]};\n"
  }

  private func record(interval: Int, latency: Int) async -> Run {
    let session = Session(weather: Weather(latency: latency), isRecorded: true)
    await session.open()
    for count in 1...Self.text.count {
      if count > 1 { try? await Task.sleep(for: .milliseconds(interval)) }
      await session.type(String(Self.text.prefix(count)))
    }
    await session.ended()
    return Run(interval: interval, latency: latency, events: session.log.takeRuns())
  }
}
