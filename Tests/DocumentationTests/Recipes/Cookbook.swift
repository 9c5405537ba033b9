import Foundation
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

  // MARK: Pay once

  struct Purchase: Hashable, Sendable {
    var id = UUID()  // the same each time that the user tries to pay
    let euros: Int
  }

  struct Pay: UseCase {
    let bank: @Sendable (Purchase) async throws -> String
    let queue = UseCaseQueue(.dropWhileBusy)
    let timeout = Duration.seconds(20)

    func main(_ purchase: Purchase) async throws -> String { try await bank(purchase) }
  }

  private struct PayButton: View {
    let pay: UseCaseModel<Pay>
    let purchase: Purchase

    var body: some View {
      Button("Pay") { if pay.value == nil { pay.execute(purchase) } }
        .disabled(pay.isRunning)
    }
  }

  @Test func `a tap between the answer and the receipt pays nothing`() async throws {
    let bank = ControlledUseCase<Purchase, String>()
    let purchase = Purchase(euros: 5)
    let pay = UseCaseModel(Pay { try await bank($0) }, cancelsOnRelease: false)
    func tap() -> UseCaseOperation<Purchase, String>? {
      pay.value == nil ? pay.execute(purchase) : nil
    }
    let first = try #require(tap())
    try await bank.next().succeed("paid")
    // The main actor is busy meanwhile, so the receipt can only be on its way.
    while first.outcome == nil { sched_yield() }
    let second = try #require(tap())
    #expect(second.state == .finished && pay.queue.activity.cancelled == 1)
    try await first.settled()
    #expect(tap() == nil && pay.value == "paid")
    #expect(pay.queue.activity.succeeded == 1)
  }

  @Test func `a tap is dropped until the bank has returned, and the next one has the same id`()
    async throws
  {
    let (began, mayAnswer, ids) = (Gate(), Gate(), Log<UUID>())
    let pay = UseCaseModel(
      Pay { purchase in
        ids.append(purchase.id)
        began.open()
        await mayAnswer.passIgnoringCancellation()
        return "paid"
      }, cancelsOnRelease: false)
    let purchase = Purchase(euros: 5)
    let first = pay.execute(purchase)
    try await began.pass()
    first.cancel()
    #expect(pay.execute(purchase).state == .finished && pay.queue.activity.cancelled == 1)
    mayAnswer.open()
    await first.ended()
    await pay.execute(purchase).ended()
    #expect(pay.value == "paid" && ids.elements == [purchase.id, purchase.id])
  }

  // MARK: A list with pages

  struct LoadPage: UseCase {
    let server: any UseCase<Int, [String]>
    let queue = UseCaseQueue(.cancelPrevious)

    func main(_ offset: Int) async throws -> [String] { try await server(offset) }
  }

  @MainActor @Observable
  final class FeedModel {
    let page: UseCaseModel<LoadPage>
    private(set) var rows: [String] = []
    private var isComplete = false

    init(_ loadPage: LoadPage) { page = UseCaseModel(loadPage) }

    func loadMore() {
      if !isComplete, !page.isRunning { load(from: rows.count) }
    }

    @discardableResult
    func load(from offset: Int = 0) -> UseCaseOperation<Int, [String]> {
      page.execute(offset).then { [weak self] titles in
        guard let self else { return }
        rows = offset == 0 ? titles : rows + titles
        isComplete = titles.isEmpty
      }
    }
  }

  private struct FeedView: View {
    let feed: FeedModel

    var body: some View {
      List(feed.rows, id: \.self) { row in
        Text(row).onAppear { if row == feed.rows.last { feed.loadMore() } }
      }
      .task { feed.load() }
      .refreshable { await feed.load().ended() }
    }
  }

  @Test func `the end of a list asks for the next page once`() async throws {
    let server = ControlledUseCase<Int, [String]>()
    let feed = FeedModel(LoadPage(server: server))
    let first = feed.load()
    try await server.next().succeed(["a", "b"])
    while first.outcome == nil { sched_yield() }
    feed.loadMore()  // the first page is there, but not shown yet
    #expect(feed.page.queue.activity.executed == 1)
    try await first.settled()
    feed.loadMore()
    feed.loadMore()
    #expect(feed.page.queue.activity.executed == 2)
    try await server.next().succeed([])
    while feed.page.isRunning { await Task.yield() }
    feed.loadMore()  // that was the end
    #expect(feed.rows == ["a", "b"] && feed.page.queue.activity.executed == 2)
  }

  @Test func `the next page is asked for by the very next thing after then`() async throws {
    let server = ControlledUseCase<Int, [String]>()
    let feed = FeedModel(LoadPage(server: server))
    let first = feed.load()
    first.then { _ in feed.loadMore() }  // the last row appears
    try await server.next().succeed(["a"])
    try await first.settled()
    let second = try await server.next()
    #expect(second.request == 1)
    second.succeed([])
    await feed.page.queue.idle()
  }

  @Test func `a page that is on its way when the user pulls is never appended`() async throws {
    let server = ControlledUseCase<Int, [String]>()
    let feed = FeedModel(LoadPage(server: server))
    let first = feed.load()
    try await server.next().succeed(["a"])
    try await first.settled()
    feed.loadMore()
    let more = try await server.next()
    let reload = feed.load()
    try await more.cancelled()
    try await server.next().succeed(["new", "a"])
    try await reload.settled()
    #expect(feed.rows == ["new", "a"])
  }

  // MARK: Upload with progress

  struct Upload: ReportingUseCase {
    let send: @Sendable (_ part: Int) async throws -> Void
    var queue = UseCaseQueue(.cancelPreviousAndWait)

    func main(
      _ parts: Int, report: @escaping @Sendable (Double) -> Void
    ) async throws {
      for part in 1...parts {
        try await send(part)
        report(Double(part) / Double(parts))
      }
    }
  }

  private struct UploadView: View {
    let upload: ReportingUseCaseModel<Upload>
    let parts: Int

    var body: some View {
      if upload.isRunning {
        ProgressView(value: upload.update ?? 0)
        Button("Cancel") { upload.cancel() }
      } else {
        Button("Upload") { upload.execute(parts) }
      }
    }
  }

  @Test func `an upload can be cancelled, and begun again while the old one unwinds`()
    async throws
  {
    let (sent, gate) = (Log<Int>(), Gate())
    let upload = ReportingUseCaseModel(
      Upload { part in
        sent.append(part)
        // The first part of the first upload never looks at its cancellation.
        if sent.count == 1 { await gate.passIgnoringCancellation() }
        try Task.checkCancellation()
      })
    let first = upload.execute(2)
    await sent.elements(atLeast: 1)
    upload.cancel()
    #expect(!upload.isRunning)
    let second = upload.execute(2)
    #expect(second.state == .waiting && upload.update == nil)
    gate.open()
    try await second.settled()
    try await first.settled()
    #expect(sent.elements == [1, 1, 2] && upload.update == 1)
  }

  @Test func `every row of one upload gets its progress`() async throws {
    let queue = UseCaseQueue()
    queue.suspend()
    let upload = Upload(send: { _ in }, queue: queue).shared()
    let row = ReportingUseCaseModel(upload)
    let badge = ReportingUseCaseModel(upload)
    let operations = [row.execute(4), badge.execute(4)]
    queue.resume()
    for operation in operations { try await operation.settled() }
    #expect(row.update == 1 && badge.update == 1)
    #expect(queue.activity.succeeded == 1)
  }

  // MARK: Autosave

  struct Draft: Identifiable, Sendable {
    let id: Int
    var text = ""
  }

  struct SaveDraft: UseCase {
    let save: @Sendable (Draft) async throws -> Void
    var lanes = UseCaseLanes<Draft.ID>(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)))

    func queue(for draft: Draft) -> UseCaseQueue { lanes[draft.id] }
    func main(_ draft: Draft) async throws { try await save(draft) }
  }

  @MainActor @Observable
  final class DraftModel {
    private(set) var draft: Draft
    private let saving: UseCaseModel<SaveDraft>

    init(_ draft: Draft, _ saveDraft: SaveDraft) {
      self.draft = draft
      saving = UseCaseModel(saveDraft, cancelsOnRelease: false)
    }

    var status: String {
      if saving.isRunning { return "Saving…" }
      return saving.error.map { "Not saved: \($0)" } ?? "Saved"
    }

    func type(_ text: String) {
      draft.text = text
      saving.execute(draft)
    }

    func saveNow() async {
      if saving.error != nil, !saving.isRunning { saving.execute(draft) }  // send it again
      let lane = saving.useCase.lanes[draft.id]
      lane.flush()
      await lane.idle()
    }
  }

  private struct DraftView: View {
    let draft: DraftModel
    @Environment(\.scenePhase) private var scenePhase

    var body: some View {
      Text(draft.status)
        .onDisappear { Task { await draft.saveNow() } }
        .onChange(of: scenePhase) { _, phase in
          if phase == .background { Task { await draft.saveNow() } }
        }
    }
  }

  private func saveDraft(_ server: ControlledUseCase<Draft, Void>) -> SaveDraft {
    let lanes = UseCaseLanes<Draft.ID>(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)), clock: ManualClock())
    return SaveDraft(save: { draft in try await server(draft) }, lanes: lanes)
  }

  @Test func `each of two notes keeps its newest text, and a failed one is sent again`()
    async throws
  {
    let server = ControlledUseCase<Draft, Void>()
    let saveDraft = saveDraft(server)
    let models = (1...2).map { DraftModel(Draft(id: $0), saveDraft) }
    models[0].type("m")
    models[1].type("t")
    models[0].type("mi")
    #expect(models.map(\.status) == ["Saving…", "Saving…"])
    let saves = models.map { model in Task { await model.saveNow() } }
    let calls = try await [server.next(), server.next()]
    #expect(Set(calls.map(\.request.text)) == ["mi", "t"])
    for call in calls {
      if call.request.id == 1 { call.fail(Offline()) } else { call.succeed(()) }
    }
    for save in saves { await save.value }
    #expect(models.map(\.status) == ["Not saved: Offline()", "Saved"])

    let again = Task { await models[0].saveNow() }
    let call = try await server.next()
    #expect(call.request.text == "mi")
    call.succeed(())
    await again.value
    #expect(models[0].status == "Saved")
  }

  @Test func `a draft is saved though its screen has gone`() async throws {
    let server = ControlledUseCase<Draft, Void>()
    let saveDraft = saveDraft(server)
    var model: DraftModel? = DraftModel(Draft(id: 1), saveDraft)
    model?.type("Dear Ada,")
    weak let released = model
    model = nil
    #expect(released == nil)
    saveDraft.lanes.flush()
    let call = try await server.next()
    #expect(call.request.text == "Dear Ada,")
    call.succeed(())
    await saveDraft.lanes.idle()
  }

  // MARK: Offline

  func follow(_ reachable: AsyncStream<Bool>, _ queue: UseCaseQueue) async {
    for await isReachable in reachable {
      if isReachable {
        queue.resume()
        queue.flush(retries: true)  // the next attempts begin now
      } else {
        queue.suspend()
      }
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
    #expect(screen.lines == ["one", "two"])
    network.finish()
    await following.value
  }

  @Test func `an attempt that waits for its delay begins when the network is back`() async throws {
    let (clock, server) = (ManualClock(), ControlledUseCase<String, String>())
    let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(60)))
    let queue = UseCaseQueue(clock: clock, interceptors: [retry])
    let send = AnyUseCase<String, String>(queue: queue) { text in try await server(text) }
    let operation = send.execute("one")
    try await server.next().fail(Offline())
    try await clock.sleeping()
    queue.flush()
    #expect(clock.sleepers == 1)
    let (reachable, network) = AsyncStream<Bool>.makeStream()
    network.yield(true)
    network.finish()
    await follow(reachable, queue)
    try await server.next().succeed("one")
    #expect(try await operation.value == "one")
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
