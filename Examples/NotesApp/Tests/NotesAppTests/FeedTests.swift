import NotesModels
import Testing
import UseCase

@Suite(.timeLimit(.minutes(1))) @MainActor
struct FeedTests {
  private static let notes = (1...45).map { Note(id: $0, text: "Note \($0)") }

  @Test func `the answer to an older search is never shown`() async throws {
    let server = try TestServer([Note(id: 1, text: "sea"), Note(id: 2, text: "swan")])
    let test = try await TestApp(server)
    let feed = test.app.feed
    let older = server.hold("GET /notes?text=s")
    let newer = server.hold("GET /notes?text=sw")

    let stale = try #require(feed.find("s"))
    try await test.pass(.milliseconds(300))
    try await older.arrived.pass()
    let newest = try #require(feed.find("sw"))
    try await test.pass(.milliseconds(300))
    try await newer.arrived.pass()
    newer.answer()
    try await newest.settled()
    #expect(feed.rows.map(\.title) == ["swan"])
    older.answer()
    guard case .cancelled(.superseded) = try await stale.settled() else {
      Issue.record("The older search was not superseded.")
      return
    }
    #expect(feed.rows.map(\.title) == ["swan"] && !feed.search.isRunning)
  }

  @Test func `typing without a pause asks once`() async throws {
    let server = try TestServer([Note(id: 1, text: "swift")])
    let test = try await TestApp(server)
    for text in ["s", "sw", "swi"] { test.app.feed.find(text) }
    let newest = try #require(test.app.feed.find("swift"))
    try await test.pass(.milliseconds(300))
    try await newest.settled()
    #expect(server.requests == ["GET /notes?text=swift"])
    test.app.feed.find("")
    #expect(test.app.feed.search.value == nil)
  }

  @Test func `a failed search keeps the rows and says why`() async throws {
    let server = try TestServer([Note(id: 1, text: "milk"), Note(id: 2, text: "mint")])
    let test = try await TestApp(server)
    let first = try #require(test.app.feed.find("mi"))
    try await test.pass(.milliseconds(300))
    try await first.settled()
    server.fail("GET", .refused)
    let second = try #require(test.app.feed.find("mil"))
    try await test.pass(.milliseconds(300))
    try await second.settled()
    #expect(test.app.feed.rows.map(\.title) == ["mint", "milk"])
    #expect(test.app.feed.search.error as? ServerError == .away)
    test.app.feed.find("")
    #expect(test.app.feed.search.error == nil)
  }

  @Test func `no page is asked for twice, and no note is there twice`() async throws {
    let server = try TestServer(Self.notes)
    let test = try await TestApp(server)
    let feed = test.app.feed
    let first = server.hold("GET /notes?before=")
    for _ in 1...3 { feed.loadMore() }
    try await first.arrived.pass()
    feed.loadMore()
    first.answer()
    await feed.page.queue.idle()
    #expect(feed.rows.map(\.id) == Array((26...45).reversed()))

    server.fail("GET /notes?before=26", .refused)
    for _ in 1...2 {
      feed.loadMore()
      await feed.page.queue.idle()
    }
    while feed.hasMore {
      feed.loadMore()
      await feed.page.queue.idle()
    }
    feed.loadMore()
    #expect(feed.rows.map(\.id) == Array((1...45).reversed()))
    let asked = server.requests.map { $0.replacing("GET /notes?before=", with: "") }
    #expect(asked == ["\(Int.max)", "26", "26", "6", "1"])

    let next = try await test.relaunched(server)
    next.app.feed.loadMore()
    #expect(next.app.feed.rows.count == 45 && !next.app.feed.hasMore)
    #expect(server.requests.count == 5)
  }

  @Test func `a pull and a page that is on its way both arrive`() async throws {
    let server = try TestServer(Self.notes)
    let test = try await TestApp(server)
    let feed = test.app.feed
    try await feed.load().settled()
    let page = server.hold("GET /notes?before=26")
    feed.loadMore()
    try await page.arrived.pass()
    try await feed.load().settled()
    page.answer()
    await feed.page.queue.idle()
    #expect(feed.rows.map(\.id) == Array((6...45).reversed()))
    #expect(server.requests.count == 3)
  }

  @Test func `a pull that has failed is offered again, also behind a page that arrives`()
    async throws
  {
    let server = try TestServer(Self.notes)
    let test = try await TestApp(server)
    let feed = test.app.feed
    try await feed.load().settled()
    server.fail("GET /notes?before=", .refused)
    try await feed.load().settled()
    feed.loadMore()
    await feed.page.queue.idle()
    #expect(feed.isIncomplete && feed.page.error == nil)
    feed.tryAgain()
    await feed.page.queue.idle()
    #expect(!feed.isIncomplete)
  }

  @Test func `a search finds what is only on this device`() async throws {
    let server = try TestServer([Note(id: 1, text: "milk"), Note(id: 2, text: "mint")])
    let test = try await TestApp(server)
    let notebook = test.app.notebook
    try await notebook.edit("Edit", [Note(id: 1, text: "tea")]).settled()
    try await notebook.edit("New note", [Note(id: 3, text: "mill")]).settled()
    let search = try #require(test.app.feed.find("mi"))
    #expect(test.app.feed.rows.map(\.title) == ["mill"])
    try await test.pass(.milliseconds(300))
    try await search.settled()
    #expect(test.app.feed.rows.map(\.title) == ["mill", "mint"])
  }

  @Test func `a page that was asked for before an edit takes nothing back`() async throws {
    let server = try TestServer(Self.notes)
    let test = try await TestApp(server)
    let notebook = test.app.notebook
    try await test.app.feed.load().settled()
    let page = server.hold("GET /notes?before=", .none)
    let load = test.app.feed.load()
    try await page.arrived.pass()
    try await notebook.edit("Edit", [Note(id: 45, text: "New")]).settled()
    try await notebook.delete(Note(id: 44)).settled()
    await notebook.saveNow()
    page.answer()
    try await load.settled()
    #expect(test.app.feed.rows.prefix(2).map(\.title) == ["New", "Note 43"])
  }
}
