import Dispatch
import Foundation

/// Measures what the library costs, in comparison with a bare `Task` that does the same work.
@main
struct Benchmarks {
  static let scenarios: [Scenario] = [.burst]

  // Synchronous: the measured work has the threads of the concurrency runtime for itself, and the
  // main queue is served as in an app.
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == "exact" { return exact(Array(arguments.dropFirst(2))) }
    Thread.detachNewThread {
      switch arguments.dropFirst().first {
      case nil: measure(rounds: 9, scale: Scale())
      case "quick": measure(rounds: 1, scale: Scale(isQuick: true))
      default:
        print("usage: Benchmarks [quick | exact [PATH COUNT]]")
        exit(64)
      }
      exit(0)
    }
    dispatchMain()
  }

  /// Prints the names of the paths, or how often an operation of one allocates.
  static func exact(_ arguments: [String]) {
    guard arguments.count == 2, let count = Int(arguments[1]) else {
      return print(Path.all.map(\.name).joined(separator: "\n"))
    }
    for path in Path.all where path.name == arguments[0] {
      print(path.allocations(count: count).short)
    }
  }

  static func measure(rounds: Int, scale: Scale) {
    let start = ContinuousClock.now
    var results: [Result] = []
    for scenario in scenarios {
      print(scenario.name, terminator: " … ")
      results.append(Result(of: scenario, rounds: rounds, scale: scale))
      print(start.duration(to: .now).formatted())
    }
    let table = Table(results)
    print(table.text)
  }
}
