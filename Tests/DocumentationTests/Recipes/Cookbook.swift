import Observation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStub
#endif

/// The recipes of the page "Cookbook" that stand on no other page.
@Suite(.mustEnd) @MainActor
struct Cookbook {
  struct Offline: Error {}

  // MARK: Optimistic rows

  @MainActor @Observable
  final class StarsModel {
    private(set) var starred: Set<Int> = []
    private(set) var message: String?
    private let star: any UseCase<Int, Void>

    init(star: any UseCase<Int, Void>) { self.star = star }

    @discardableResult
    func add(_ id: Int) -> UseCaseOperation<Int, Void> {
      starred.insert(id)
      return star.execute(id)
        .catch { error in
          self.starred.remove(id)
          self.message = String(describing: error)
        }
        .onCancel { _ in self.starred.remove(id) }
    }
  }

  @Test func `a row changes at once, and back if the server refuses`() async throws {
    let star = ControlledUseCase<Int, Void>()
    let model = StarsModel(star: star)
    let operation = model.add(7)
    #expect(model.starred == [7])
    try await star.next().fail(Offline())
    await operation.ended()
    #expect(model.starred.isEmpty && model.message == "Offline()")
  }

  // MARK: A Save button

  struct SaveNote: UseCase {
    let request: any UseCase<String, Void>  // with a timeout
    let queue = UseCaseQueue(
      .dropWhileBusy, interceptors: [RetryInterceptor(attempts: 3)])

    func main(_ text: String) async throws { try await request(text) }
  }

  private struct SaveButton: View {
    let save: UseCaseModel<SaveNote>
    let text: String

    var body: some View {
      Button(save.error == nil ? "Save" : "Try again") { save.execute(text) }
        .disabled(save.isRunning)
    }
  }

  @Test func `each attempt of a save has its own timeout, and a tap tries again`() async throws {
    let (clock, server) = (ManualClock(), ControlledUseCase<String, Void>())
    let request = AnyUseCase<String, Void>(
      queue: UseCaseQueue(clock: clock), timeout: .seconds(5)
    ) { text in try await server(text) }
    let save = UseCaseModel(SaveNote(request: request), cancelsOnRelease: false)
    let first = save.execute("milk")
    for _ in 1...3 {
      let call = try await server.next()
      try await clock.sleeping()
      await clock.advance(by: .seconds(5))
      try await call.cancelled()
    }
    await first.ended()
    #expect(save.error is UseCaseTimeout && !save.isRunning)
    let second = save.execute("milk")
    try await server.next().succeed(())
    await second.ended()
    #expect(save.error == nil)
  }

  // MARK: Progress for everyone

  struct Download: ReportingUseCase {
    let parts: Int
    var queue = UseCaseQueue(.limit(4))

    func main(
      _ name: String, report: @escaping @Sendable (Double) -> Void
    ) async throws -> String {
      for part in 1...parts {
        await Task.yield()
        report(Double(part) / Double(parts))
      }
      return name
    }
  }

  @Test func `every row of one download gets its progress`() async {
    let queue = UseCaseQueue(.limit(4))
    queue.suspend()
    let download = Download(parts: 4, queue: queue).shared()
    let row = ReportingUseCaseModel(download)
    let badge = ReportingUseCaseModel(download)
    let first = row.execute("song")
    let second = badge.execute("song")
    queue.resume()
    await first.ended()
    await second.ended()
    #expect(row.update == 1 && badge.update == 1)
    #expect(queue.activity.succeeded == 1)
  }

  // MARK: Offline

  func follow(_ reachable: AsyncStream<Bool>, _ queue: UseCaseQueue) async {
    for await isReachable in reachable {
      if isReachable { queue.resume() } else { queue.suspend() }
    }
  }

  @Test func `what is sent offline goes out later, in order`() async {
    let queue = UseCaseQueue(.serial)
    let screen = TestScreen()
    let send = AnyUseCase<String, String>(queue: queue) { text in text }
    let (reachable, network) = AsyncStream<Bool>.makeStream()
    let following = Task { await follow(reachable, queue) }
    network.yield(false)
    while !queue.isSuspended { await Task.yield() }
    for text in ["one", "two"] { send.execute(text).then { screen.show($0) } }
    #expect(queue.activity.waiting == 2)
    network.yield(true)
    while queue.isSuspended { await Task.yield() }
    await queue.idle()
    while screen.lines.count < 2 { await Task.yield() }
    #expect(screen.lines == ["one", "two"])
    network.finish()
    await following.value
  }

  // MARK: Cancelled, but recorded

  func remove<Base: UndoableUseCase>(
    _ request: Base.Request, _ removal: RecordedUseCase<Base>, in history: UseCaseHistory
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    let operation = removal.execute(request)
    return operation.finally { outcome in
      if case .cancelled = outcome, let entry = history.entry(of: operation.id) {
        history.undo(entry.id)
      }
    }
  }

  private struct StubbornRemoval: UndoableUseCase {
    let notes: Notes
    let hasBegun: Gate
    let gate: Gate

    func main(_ title: String) async throws -> Int {
      hasBegun.open()
      await gate.passIgnoringCancellation()
      return try await notes.remove(title)
    }

    func undo(_ title: String, _ index: Int) async throws {
      try await notes.insert(title, at: index)
    }
  }

  @Test func `an effect that came in spite of the cancellation is undone`() async throws {
    let notes = Notes(["milk", "bread"])
    let history = UseCaseHistory()
    let (hasBegun, gate) = (Gate(), Gate())
    let removal = StubbornRemoval(notes: notes, hasBegun: hasBegun, gate: gate)
      .recorded(in: history)
    let operation = remove("milk", removal, in: history)
    try await hasBegun.pass()
    operation.cancel()
    gate.open()
    await operation.ended()
    await history.idle()
    #expect(await notes.titles == ["milk", "bread"])
  }

  // MARK: A deep link into the history

  @Test func `a link goes to an entry`() async {
    let notes = Notes(["milk", "bread"])
    let history = UseCaseHistory()
    let removal = RemoveNote(notes: notes).recorded(in: history)
    let first = removal.execute("milk")
    await removal.execute("bread").ended()
    let target = history.entry(of: first.id)?.id

    await history.move(to: target).ended()
    #expect(await notes.titles == ["bread"])
    await history.move(to: nil).ended()
    #expect(await notes.titles == ["milk", "bread"])
  }
}
