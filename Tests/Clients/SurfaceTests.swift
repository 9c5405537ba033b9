import TestSupport
import Testing
import UseCase
import UseCaseHistory

// The code of a client with documents, gestures and policies made of parts, compiled in each mode
// that a client may have.

struct Write: UndoableUseCase, ReportingUseCase {
  struct Line: Equatable, Sendable {
    let note: String
    let text: String
  }

  let paper: Paper

  func main(
    _ line: Line, report: @escaping @Sendable (Int) -> Void
  ) async throws -> String {
    report(line.text.count)
    return await paper.write(line.text, on: line.note)
  }

  func undo(_ line: Line, _ old: String) async throws {
    _ = await paper.write(old, on: line.note)
  }

  func footprint(of line: Line) -> HistoryFootprint? { .keys(line.note) }
}

actor Paper {
  private(set) var notes: [String: String] = [:]

  func write(_ text: String, on note: String) -> String {
    defer { notes[note] = text }
    return notes[note] ?? ""
  }
}

@Suite struct SurfaceTests {
  @Test func `policies are made of parts`() {
    let policies: [UseCaseQueue.Policy] = [
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)),
      .serial.rate(3, per: .seconds(1)), .dropWhileBusy.spaced(by: .seconds(1)),
      .limit(2).byPriority, .limit(2).waiting(atMost: 3),
    ]
    #expect(Set(policies).count == policies.count)
    #expect(UseCaseQueue.Policy.throttle(.seconds(1)) == .keepLatest.spaced(by: .seconds(1)))
    #expect(UseCaseQueue.Policy.limit(2, waiting: 3) == .limit(2).waiting(atMost: 3))
    #expect(
      UseCaseQueue.Policy.cancelPrevious(debounce: .seconds(1))
        == .cancelPrevious.debounced(by: .seconds(1)))
  }

  @Test func `an app that goes away saves at once`() async {
    let queue = UseCaseQueue(.keepLatest.debounced(by: .seconds(60), atMost: .seconds(600)))
    let save = AnyUseCase<String, String>(queue: queue) { $0 }
    let operation = save.execute("draft", priority: .low)
    operation.raise(to: .high)
    #expect(operation.priority == .high && operation.state == .waiting)
    queue.flush()
    await operation.ended()
    let lanes = UseCaseLanes<String>(.keepLatest.debounced(by: .seconds(60)))
    let other = AnyUseCase<String, String>(queue: lanes["a"]) { $0 }.execute("draft")
    lanes.flush()
    await other.ended()
    #expect(try! operation.outcome?.get() == "draft" && other.state == .finished)
  }

  @Test @MainActor func `each document has its own undo, and a drag is one entry`() async throws {
    let paper = Paper()
    let history = UseCaseHistory()
    let write = Write(paper: paper)
    var lengths: [Int] = []
    await history.execute(write, .init(note: "a", text: "one")) { lengths.append($0) }.ended()
    await write.recorded(in: history).execute(.init(note: "b", text: "two")) { length in
      lengths.append(length)
    }.ended()
    #expect(lengths == [3, 3])
    let first = try #require(try await history.undo(in: .keys("a")).value)
    let state = history.state(in: .keys(["a"]))
    #expect(state.canRedo && !state.canUndo && !first.isPartial)
    _ = try await history.redo(first.id).value
    let model = HistoryModel(history, in: .keys(Set(["b"])))
    #expect(model.canUndo)

    let drag = history.openGroup("Move")
    drag.execute(write, .init(note: "a", text: "here"))
    drag.execute(write, .init(note: "a", text: "there")) { lengths.append($0) }
    let move = try #require(try await drag.close().value)
    #expect(move.children.count == 2 && move.title == "Move")
    _ = try await history.redo(in: .keys("b")).value
    _ = try await history.undo().value
    #expect(await paper.notes == ["a": "one", "b": "two"])
    let sum = try await history.group("Both") { () async throws -> Int in
      lengths.append(0)
      write.recorded(in: history).execute(.init(note: "a", text: "1"))
      return try await write.recorded(in: history)(.init(note: "b", text: "2")).count
    }.value
    #expect(sum == 3 && history.entries.last?.children.count == 2)
    history.mergeWindow = .seconds(2)
    #expect(history.mergeWindow == .seconds(2))
  }
}
