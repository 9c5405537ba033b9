import Foundation
import LocalServer
import Testing

@testable import playground

@Suite(.timeLimit(.minutes(15)))
struct SiteTests {
  private let site: Site

  init() throws {
    site = Site(page: try PageFiles())
  }

  private func answer(_ request: HTTPRequest) -> HTTPAnswer? {
    do throws(HTTPAnswer) {
      guard case .whole(let answer) = try site.reply(to: request) else { return nil }
      return answer
    } catch {
      return error
    }
  }

  private func post(
    _ target: String, _ body: String, session: String?, type: String = "application/json"
  ) -> HTTPAnswer? {
    var request = HTTPRequest(
      method: "POST", target: target, headers: ["content-type": type], body: Array(body.utf8))
    request.headers["x-session"] = session
    return answer(request)
  }

  private func open() async throws -> (feed: any EventFeed, session: String) {
    guard case .events(let feed) = try site.reply(to: .init(method: "GET", target: "/events"))
    else { throw HTTPAnswer(500) }
    let text = try await read(feed) { $0.contains("event: hello") }
    let start = try #require(text.range(of: "\"session\":\""))
    return (feed, String(text[start.upperBound...].prefix { $0 != "\"" }))
  }

  /// Reads events until there is what is looked for. A thread of its own waits for them, since the
  /// session runs on those of the tests.
  private func read(
    _ feed: any EventFeed, until isEnough: @escaping @Sendable (String) -> Bool
  ) async throws -> String {
    let text = await withCheckedContinuation { continuation in
      Thread {
        var text = ""
        while !isEnough(text), let more = feed.take(until: Date(timeIntervalSinceNow: 1)) {
          text += more
        }
        continuation.resume(returning: text)
      }.start()
    }
    try #require(isEnough(text))
    return text
  }

  @Test(arguments: ["/", "/index.html", "/playground.css", "/playground.js", "/?x"])
  func `the page has no part from elsewhere`(target: String) throws {
    let answer = try #require(self.answer(HTTPRequest(method: "GET", target: target)))
    #expect(answer.status == 200)
    #expect(answer.headers["Content-Security-Policy"]?.hasPrefix("default-src 'self'") == true)
    let text = String(decoding: answer.body, as: UTF8.self)
      .replacing("http://www.w3.org/2000/svg", with: "")
    #expect(!text.isEmpty && !text.contains("http"))
  }

  @Test func `each request that is wrong has a status and words, and the next one works`()
    async throws
  {
    let (feed, session) = try await open()
    defer { feed.close() }
    let cases: [(HTTPAnswer?, Int)] = [
      (answer(HTTPRequest(method: "GET", target: "/x")), 404),
      (answer(HTTPRequest(method: "GET", target: "/../Main.swift")), 404),
      (answer(HTTPRequest(method: "POST", target: "/")), 405),
      (answer(HTTPRequest(method: "GET", target: "/keys")), 405),
      (answer(HTTPRequest(method: "POST", target: "/events")), 405),
      (post("/keys", "{\"texts\":[]}", session: nil), 400),
      (post("/keys", "{\"texts\":[]}", session: "guess"), 404),
      (post("/keys", "{\"texts\":[]}", session: session, type: "text/plain"), 415),
      (post("/keys", "{\"texts\":", session: session), 400),
      (post("/keys", "{\"texts\":[1]}", session: session), 400),
      (
        post("/keys", "{\"texts\":[\"\(String(repeating: "x", count: 201))\"]}", session: session),
        422
      ),
      (post("/weather", "{}", session: session), 400),
      (
        post(
          "/weather",
          "{\"latency\":-1,\"jitter\":0,\"failures\":0,\"ignoresCancellation\":false}",
          session: session), 422
      ),
      (post("/undo", "{\"action\":\"fly\"}", session: session), 400),
      (post("/undo", "{\"action\":\"add\",\"list\":7,\"text\":\"x\"}", session: session), 422),
      (post("/undo", "{\"action\":\"undoEntry\"}", session: session), 422),
    ]
    for (answer, status) in cases {
      #expect(answer?.status == status)
      #expect(answer?.body.isEmpty == false)
    }
    #expect(post("/keys", "{\"texts\":[\"a\\\"b\"]}", session: session)?.status == 204)
    let text = try await read(feed) { $0.contains(",\"shown\"]") }
    #expect(text.contains("-1,1,\"key\",\"a\\\"b\"]"))
  }

  @Test func `a page goes on with its session, and a new page takes the place of one without`()
    async throws
  {
    var pages: [(feed: any EventFeed, session: String)] = []
    for _ in 0..<Site.capacity { pages.append(try await open()) }
    #expect(answer(HTTPRequest(method: "GET", target: "/events"))?.status == 503)
    let (feed, session) = pages[3]
    feed.close()
    let target = "/events?session=\(session)"
    guard case .events(let again) = try site.reply(to: .init(method: "GET", target: target))
    else { throw HTTPAnswer(500) }
    // The connection before it hears no more.
    #expect(feed.take(until: .distantFuture) == nil)
    feed.close()
    #expect(answer(HTTPRequest(method: "GET", target: "/events"))?.status == 503)
    #expect(post("/keys", "{\"texts\":[\"a\"]}", session: session)?.status == 204)
    _ = try await read(again) { $0.contains("-1,1,\"key\",\"a\"]") }
    again.close()
    _ = try await open()
    #expect(post("/clear", "{}", session: session)?.status == 404)
    #expect(again.take(until: .distantFuture) == nil)
  }
}

struct EventLogTests {
  @Test func `of a state the newest is told, and of runs every one`() throws {
    let log = EventLog()
    let reader = try #require(log.attach())
    for number in 1...3 {
      log.set("undo", "\(number)")
      log.add("[\(number)]")
    }
    let soon = Date(timeIntervalSinceNow: 10)
    #expect(
      log.take(until: soon, by: reader)
        == "event: undo\ndata: 3\n\nevent: runs\ndata: [[1],[2],[3]]\n\n")
    #expect(log.take(until: Date(), by: reader) == "")
    log.close()
    #expect(log.take(until: soon, by: reader) == nil)
  }

  @Test func `a log that nobody reads ends instead of growing`() throws {
    let log = EventLog()
    let reader = try #require(log.attach())
    for _ in 0...EventLog.capacity { log.add("[]") }
    #expect(log.take(until: Date(timeIntervalSinceNow: 10), by: reader) == nil)
    #expect(log.takeRuns().count == EventLog.capacity && log.attach() == nil)
  }
}
