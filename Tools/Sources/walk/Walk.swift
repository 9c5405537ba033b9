import EntryTrace
import UseCase
import UseCaseHistory

/// A client that goes the ways through the library that `Tools/way` counts, and prints the
/// functions that each way enters.
///
/// The client is on the main actor, as a view is. Each body waits until the handler is attached, so
/// that every run goes the same way.
@main @MainActor
struct Walk {
  static func main() async {
    // The first time, the library also makes what it keeps for the next.
    for isPrinted in [false, true] {
      let history = UseCaseHistory()
      await walk("execute", isPrinted) { end in Twice().execute(1).then { _ in end() } }
      await walk("recorded", isPrinted) { end in
        history.execute(Twice(), 1).then { _ in end() }
      }
      await walk("undo", isPrinted) { end in history.undo().finally { end() } }
    }
  }

  private static func walk(
    _ name: String, _ isPrinted: Bool, _ way: (@escaping @MainActor () -> Void) -> Void
  ) async {
    await withCheckedContinuation { continuation in
      entry_trace_start()
      way {
        entry_trace_stop()
        continuation.resume()
      }
      turns.yield()
    }
    // Nothing of this way is left when the next one begins.
    try? await Task.sleep(for: .milliseconds(100))
    guard isPrinted else { return }
    print(name)
    entry_trace_print()
  }
}

/// Each body takes one turn before it returns.
private let (line, turns) = AsyncStream.makeStream(of: Void.self)

private struct Twice: UndoableUseCase {
  func main(_ number: Int) async -> Int {
    await takeTurn()
    return 2 * number
  }

  func undo(_ number: Int, _ double: Int) async { await takeTurn() }

  private func takeTurn() async {
    for await _ in line { break }
  }
}
