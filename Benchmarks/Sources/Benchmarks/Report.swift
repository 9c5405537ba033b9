import Foundation

/// The files that a run leaves behind: `RESULTS.md` and the chart in it.
struct Report {
  let results: [Samples]

  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appending(path: "../..").standardized

  func write(to folder: URL) throws {
    try Data(text().utf8).write(to: folder.appending(path: "RESULTS.md"))
    try Chart.write(to: folder)
  }

  private func text() throws -> String {
    let table = Table(results)
    let first = try first(in: table)
    return """
      # Results

      The five paths that most apps take cost this many times as much as bare tasks that do the
      same work:

      \(first)

      ![Cost of an operation, as a multiple of a bare task](results.svg)

      \(Machine.description)

      Made by `swift run -c release --package-path Benchmarks`, in one process and one run. In each
      round, the contestants of a scenario run one after the other. The first round is a warm-up.
      Most scenarios have 25 measured rounds, slow scenarios 7 or 9, *bytes of a journal* 3, and
      *opening a journal* 1.

      ## How to read the tables

      *× bare* is the cost of the contestant divided by the cost of the bare work above it. In most
      scenarios, the bare work uses `Task { }` and no library. The column shows the median of all
      rounds; *from – to* shows the minimum and the maximum. Each ratio compares two costs of the
      same round, so a disturbance of the machine affects both. *Per operation* is the median cost
      of one operation, handler or entry. Dividing two of these costs doesn't give *× bare*, because
      a median of ratios is not the ratio of two medians.

      The bodies do almost nothing, so the benchmarks measure the overhead. If a round has only one
      operation, most of the overhead is the waking of a thread.

      - *By hand* is the least code that serves one handler, or one awaiting task, without a
        library: a lock, a count of running tasks, a task-local value that tells the body its slot,
        and a cancellation handler around the wait.
      - In *Task after Task*, each task awaits the previous task. In the scenario *limit(2)*, task
        *n* awaits task *n* − 2.
      - A *storm* is a series of calls, each of which supersedes the previous call. Its bare work
        cancels the previous task.
      - A *flood* is a series of calls of which the policy lets only a few run. Its bare work runs a
        task for each call; in *throttle: flood* and *rate: flood*, each call cancels the sleeping
        task of the previous call.
      - In *shared: ten equal requests*, the bare work is the same use case without `shared()`. In
        *priority*, it is a line of the same operations in the order of their calls. An
        *OperationQueue* makes no task for each of them. In *documents*, it is the same in a history
        of ten entries of one document, and in *drag of 1,000 parts*, a group whose body calls them.
      - *2017 design* is an `Operation` with its handlers in arrays behind a dispatch queue.
      - *Memory* is the heap memory of one task, or of one operation including its task. The table
        has waiting tasks and operations, and finished tasks and operations that are still
        referenced. For an entry, *memory* excludes the request and the response.
      - *At 1,000* and *at 1,000,000* are the numbers of entries that the history already contains.
      - In *history with a journal* and *burst with a journal*, the bare work is a history without a
        journal. *Opening a journal* has no bare work, and so no ratio.

      Instructions and allocations are counted apart: [PROFILE.md](PROFILE.md) shows where the
      instructions go, and why some targets are missed.

      ## Missed targets

      \(missed(in: table))

      ## All results

      \(table.text)

      """
  }

  /// The rows that come first in the chart, too.
  private func first(in table: Table) throws -> String {
    let rows = try ChartPath.common(in: MeasuredRow.all(in: table.text)).map { path in
      let range = path.row.range
      return "| \(path.name[.english] ?? "") | \(path.row.ratio.short) "
        + "| \(range.lowerBound.short) – \(range.upperBound.short) |"
    }
    return (["| path | × bare | from – to |", "|---|---:|---:|"] + rows).joined(separator: "\n")
  }

  private func missed(in table: Table) -> String {
    guard !table.missed.isEmpty else { return "None: all targets are met." }
    return table.missed.map { "- \($0)" }.joined(separator: "\n")
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
