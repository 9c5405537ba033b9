import Dispatch
import Foundation

/// Measures what the library costs, in comparison with a bare `Task` that does the same work.
@main
struct Benchmarks {
  /// Bytes are counted by walking through all free pieces of memory, so they come first, when there
  /// are few. The last scenario leaves gigabytes in pieces, which slows down what comes after.
  static let scenarios: [Scenario] = [
    .memory, .burst, .roundTrip, .serial, .limit, .storm, .keepLatest, .throttle, .rate, .drop,
    .lanes,
    .shared, .nested, .mainActor, .handlers, .history, .documents, .drag, .million,
    .journal,
    .journalBurst, .opening, .journalBytes, .priority, .waiting,
  ]

  // Synchronous: the measured work has the threads of the concurrency runtime for itself, and the
  // main queue is served as in an app.
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == "exact" { return exact(Array(arguments.dropFirst(2))) }
    Thread.detachNewThread {
      do {
        switch arguments.dropFirst().first {
        case nil: try Report(results: measure(scenarios)).write(to: Report.package)
        case "chart": try Chart.write(to: Report.package)
        case "quick":
          let results = measure(scenarios, Scale(isQuick: true))
          try Report(results: results).write(to: .temporaryDirectory)
        case _?:
          let names = arguments.dropFirst()
          let named = scenarios.filter { scenario in names.contains(where: scenario.name.hasPrefix)
          }
          guard !named.isEmpty else {
            print("usage: Benchmarks [quick | chart | SCENARIO… | exact [PATH COUNT]]")
            print(scenarios.map(\.name).joined(separator: "\n"))
            exit(64)
          }
          _ = measure(named)
        }
        exit(0)
      } catch {
        print(error)
        exit(1)
      }
    }
    dispatchMain()
  }

  /// Prints the names of the paths, or how often one of them allocates.
  static func exact(_ arguments: [String]) {
    guard arguments.count == 2, let count = Int(arguments[1]) else {
      return print(Path.all.map(\.name).joined(separator: "\n"))
    }
    guard let path = Path.all.first(where: { $0.name == arguments[0] }) else {
      fatalError("There is no path \(arguments[0]).")
    }
    print(path.allocations(count: count))
  }

  /// Measures the scenarios, and prints the table of the results.
  static func measure(_ scenarios: [Scenario], _ scale: Scale = Scale()) -> [Samples] {
    let start = ContinuousClock.now
    let results = scenarios.map { scenario in
      let progress = "\(start.duration(to: .now).formatted()) \(scenario.name)\n"
      FileHandle.standardError.write(Data(progress.utf8))
      return Samples(of: scenario, scale: scale)
    }
    print(Table(results).text)
    return results
  }
}
