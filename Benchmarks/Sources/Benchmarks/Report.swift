import Foundation

/// What a run leaves behind: `RESULTS.md` and the chart in it.
struct Report {
  let results: [Samples]

  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appending(path: "../..").standardized

  func write(to folder: URL) throws {
    try Data(text.utf8).write(to: folder.appending(path: "RESULTS.md"))
    try Chart.write(to: folder)
  }

  private var text: String {
    let table = Table(results)
    return """
      # Results

      ![Times the cost of a bare task](results.svg)

      \(Machine.description)

      Made by `swift run -c release --package-path Benchmarks`, in one process and one run. The
      contestants of a scenario take turns, at least 7 times after one turn to warm up. *× bare* is
      how many times as much the contestant costs as the bare work above it, which is done with
      `Task { }` and no library: the median of the turns, then the least and the most. It is
      compared within a turn, so that what disturbs the machine disturbs both. *Per operation* is
      the median time of one, of one handler, or of one entry: a median of ratios is not the ratio
      of two medians. The work itself is next to nothing, and what is measured is what surrounds it;
      where a turn has one operation, that is mostly the waking of a thread.

      *By hand* is the least that does without a library what a single handler, or a single task
      that awaits the value, asks for: a lock, a count of those that run, a task-local value that
      tells the body its slot, and a cancellation handler around the wait. *Task after Task* awaits
      the one before it. In a storm the bare work cancels the task before; in a flood it runs them
      all. *2017 design* is an `Operation` with its handlers in arrays behind a dispatch queue.
      Memory is what the allocator has given out, the task included, for each that waits or has
      finished and is still held; of an entry it is what comes on top of its request and its
      response. The bare work of the journals is a history without one. *Compacted often* is a
      journal whose limit of 100 entries has it written anew, and synced, about every 160
      executions; the one that *only grows* never is. A *longest execution* is the longest of 5,000,
      from its call to its value. Instructions and allocations are counted apart:
      [PROFILE.md](PROFILE.md) says where they go, and what stands in the way of the targets that are
      missed.

      \(missed(in: table))

      \(table.text)

      """
  }

  private func missed(in table: Table) -> String {
    guard !table.missed.isEmpty else { return "All targets are met." }
    return "Missed:\n\n" + table.missed.map { "- \($0)" }.joined(separator: "\n")
  }
}

/// Where the run took place.
private enum Machine {
  static var description: String {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    return "\(processor), \(cores) cores, \(system), \(swift)."
  }

  private static var system: String {
    field("PRETTY_NAME=", in: "/etc/os-release")
      ?? ProcessInfo.processInfo.operatingSystemVersionString
  }

  private static var processor: String {
    field("model name", in: "/proc/cpuinfo") ?? "unknown processor"
  }

  private static var swift: String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift", "--version"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return "unknown Swift" }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").first { $0.contains("Swift version") }.map(String.init)
      ?? "unknown Swift"
  }

  private static func field(_ name: String, in file: String) -> String? {
    let lines = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n")
    return lines?.first { $0.hasPrefix(name) }
      .map { $0.dropFirst(name.count).trimmingCharacters(in: CharacterSet(charactersIn: "\t :\"")) }
  }
}
