import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// A recorded use case that reports.
@Suite(.mustEnd)
struct UpdatesTests {
  /// Reports each letter of the request, when the test lets it.
  private struct Upload: UndoableUseCase, ReportingUseCase {
    let page: Page
    var queue = UseCaseQueue.default

    func main(
      _ text: String, report: @escaping @Sendable (Character) -> Void
    ) async throws -> Int {
      for letter in text {
        report(letter)
        try await page.act("send \(letter)")
      }
      return page.respond()
    }

    func undo(_ text: String, _ answer: Int) async throws { try await page.act("undo \(text)") }
    func title(for text: String) -> String { text }
  }

  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }
  let heard = Log<Character>()

  private var upload: RecordedUseCase<Upload> { Upload(page: page).recorded(in: history) }

  @Test(.holds("Updates"), arguments: 0..<7)
  func `a recorded use case reports, however it is executed`(way: Int) async throws {
    let (upload, heard) = (upload, heard)
    let operation =
      switch way {
      case 0: history.execute(Upload(page: page), "abc") { heard.append($0) }
      case 1: upload.execute("abc") { heard.append($0) }
      case 2: AnyReportingUseCase(upload).execute("abc") { heard.append($0) }
      case 3: upload.shared().execute("abc") { heard.append($0) }
      case 4: AnyReportingUseCase(upload.shared()).execute("abc") { heard.append($0) }
      case 5:
        AnyReportingUseCase(AnyReportingUseCase(upload)).shared().execute("abc") {
          heard.append($0)
        }
      // The wrapper is on another queue, and calls `main`.
      default:
        AnyReportingUseCase<String, Int, Character> { try await upload.main($0, report: $1) }
          .execute("abc") { heard.append($0) }
      }
    let titles = Log<String?>()
    operation.then { [history] _ in titles.append(history.entries.first?.title) }
    #expect(try await operation.value == 1)
    await operation.ended()
    #expect(heard.elements == ["a", "b", "c"])
    #expect(titles.elements == ["abc"])
    #expect(history.layout == "[abc |]")
    #expect(await history.undo().ended().value??.title == "abc")
  }

  @Test(.holds("Updates"))
  func `the title is there while it reports, and an undo is for it`() async throws {
    let gate = page.hold("send a")
    let operation = history.execute(Upload(page: page), "a") { [heard] in heard.append($0) }
    await heard.elements(atLeast: 1)
    #expect(history.state.undoTitle == "a" && !history.state.canRedo)
    let undo = history.undo()
    gate.open()
    await operation.ended()
    #expect(await undo.ended().value??.title == "a")
  }

  @Test(.holds("Updates"))
  func `a wrapper on another queue hears nothing after the timeout of the recorded one`()
    async throws
  {
    struct Slow: UndoableUseCase, ReportingUseCase {
      let page: Page
      let timeout = Duration.seconds(1)
      func main(_ text: String, report: @escaping @Sendable (Int) -> Void) async throws -> Int {
        report(1)
        try await page.act("send")
        report(2)
        return 3
      }
      func undo(_ text: String, _ answer: Int) async throws {}
    }
    let slow = Slow(page: page).recorded(in: history)
    let (gate, heard, mayEnd) = (page.hold("send"), Log<Int>(), Gate())
    let wrapper = AnyReportingUseCase<String, Int, Int> { text, report in
      do { return try await slow.main(text, report: report) } catch {
        try await mayEnd.pass()
        return 0
      }
    }
    let operation = wrapper.execute("a") { heard.append($0) }
    await page.began("send")
    try await desk.clock.sleeping(for: .seconds(1))
    await desk.clock.advance(by: .seconds(1))
    gate.open()
    await history.idle()
    mayEnd.open()
    await operation.ended()
    #expect(heard.elements == [1])
    #expect(history.entries.count == 1)
  }

  @Test(.holds("Updates"))
  func `each attempt of a retry reports`() async throws {
    let queue = UseCaseQueue(interceptors: [RetryInterceptor(attempts: 2)])
    let isFirst = Watched(true)
    page.script("send b") {
      let fails = isFirst.update { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if fails { throw Failure("b") }
    }
    let operation = history.execute(Upload(page: page, queue: queue), "abc") { [heard] update in
      heard.append(update)
    }
    #expect(try await operation.value == 1)
    await operation.ended()
    #expect(heard.elements == ["a", "b", "a", "b", "c"])
  }

  @Test(.holds("Updates")) @MainActor
  func `a model shows the updates of a recorded use case, erased or shared`() async throws {
    let gate = page.hold("send a")
    let models = [
      ReportingUseCaseModel(AnyReportingUseCase(upload)),
      ReportingUseCaseModel(AnyReportingUseCase(upload.shared())),
    ]
    let operations = models.map { $0.execute("a") }
    await page.began("send a")
    gate.open()
    for operation in operations { await operation.ended() }
    #expect(models.map(\.update) == ["a", "a"])
    #expect(ReportingUseCaseModel(upload).update == nil)
    #expect(history.entries.count == 2)
  }
}
