import Foundation
import Testing
import UseCase

@testable import playground

struct SessionTests {
  /// What has been told of a row, as keystroke and word.
  private func told(_ events: [String], of row: Int) -> [String] {
    events.compactMap { event in
      let parts = event.dropFirst().dropLast().split(separator: ",")
      return parts[1] == "\(row)" ? "\(parts[2]) \(parts[3].dropFirst().dropLast())" : nil
    }
  }

  @Test func `the answers of the same keystrokes are stale under one policy and not another`()
    async throws
  {
    let session = Session(weather: Weather(latency: 100), isRecorded: true)
    await session.open()
    for count in 1...5 { await session.type(String("swift".prefix(count))) }
    await session.idle()
    let events = session.log.takeRuns()
    #expect(told(events, of: 0).contains("4 stale"))
    // A limit of two lets answers overtake each other too.
    for row in 1..<NamedPolicy.all.count where row != 2 {
      #expect(!told(events, of: row).contains { $0.hasSuffix("stale") })
    }
    let newest = told(events, of: 4)
    #expect(newest.filter { $0.hasSuffix("shown") } == ["5 shown"])
    #expect(newest.filter { $0.hasSuffix("superseded") }.count == 4)
    // Each row has told the end of each operation.
    for row in 0..<NamedPolicy.all.count {
      #expect(told(events, of: row).filter { $0.hasSuffix("ended") }.count == 5)
    }
  }

  @Test func `a row lets keystrokes pass when too many are in flight`() async throws {
    let session = Session(weather: Weather(latency: 0), isRecorded: true)
    await session.open()
    for _ in 0..<(PolicyRow.capacity + 5) {
      await session.type("x")
    }
    await session.idle()
    let events = session.log.takeRuns()
    let serial = told(events, of: 1)
    let executed = serial.filter { $0.hasSuffix("executed") }.count
    #expect(executed + serial.filter { $0.hasSuffix("skipped") }.count == PolicyRow.capacity + 5)
    #expect(serial.filter { $0.hasSuffix("ended") }.count == executed)
  }

  @Test func `the weather is the same for the same keystroke, and within its bounds`() {
    let weather = Weather(latency: 1000, jitter: 50, failures: 30)
    let delays = (1...1000).map { weather.delay(of: $0) }
    #expect(delays == (1...1000).map { weather.delay(of: $0) })
    #expect(delays.allSatisfy { (.milliseconds(500)...(.milliseconds(1500))).contains($0) })
    #expect((200..<400).contains((1...1000).count { weather.isFailure($0) }))
    #expect(!(1...1000).contains { Weather().isFailure($0) })
    #expect((1...9).allSatisfy { Weather(failures: 100).isFailure($0) })
  }

  @Test func `an allowance fills up with time, to its limit`() {
    var allowance = Allowance(perSecond: 10)
    #expect(allowance.take(12, at: 0) == 10)
    #expect(allowance.take(12, at: 0) == 0)
    #expect(allowance.take(12, at: 500) == 5)
    #expect(allowance.take(12, at: 60_000) == 10)
  }

  @Test func `each name of a policy is the code of its queue`() throws {
    for (row, _) in NamedPolicy.all { #expect(row.code == "UseCaseQueue(\(row.name))") }
    #expect(ComposedPolicy().complaint == nil)
    #expect(ComposedPolicy(rule: .wait, limit: 0).complaint != nil)
    #expect(ComposedPolicy(rule: .wait, limit: 2).name == ".limit(2)")
    #expect(ComposedPolicy(rule: .wait, limit: 2).policy == .limit(2))
    #expect(ComposedPolicy(rule: .drop, limit: 1).name == ".dropWhileBusy")
    #expect(ComposedPolicy(rule: .drop, limit: 1).policy == .dropWhileBusy)
  }
}

struct UndoDeskTests {
  private func request(_ json: String) throws -> UndoRequest {
    let request = try JSONDecoder().decode(UndoRequest.self, from: Data(json.utf8))
    #expect(request.complaint == nil)
    return request
  }

  @Test func `an undo of one entry leaves the later ones, and a blocked one says by which`()
    async throws
  {
    let desk = UndoDesk(log: EventLog())
    let calm = #"{"action":"trouble","trouble":{"latency":0,"failures":0,"failsNext":false}}"#
    for json in [
      calm, #"{"action":"add","list":0,"text":"milk"}"#,
      #"{"action":"add","list":1,"text":"tent"}"#,
    ] { try await desk.perform(request(json)) }
    await desk.idle()
    let items = await desk.picture.lists.map(\.items)
    let milk = try #require(items.first?.first?.id)
    try await desk.perform(request(#"{"action":"move","item":\#(milk)}"#))
    await desk.idle()
    let entries = await desk.picture.entries
    #expect(entries.map(\.title) == ["Add milk", "Add tent", "Move milk"])
    #expect(entries.map(\.blockers) == [[entries[2].id], [], []])
    for index in [0, 1] {
      try await desk.perform(request(#"{"action":"undoEntry","entry":\#(entries[index].id.json)}"#))
      await desk.idle()
    }
    let picture = await desk.picture
    #expect(picture.lists.map { $0.items.map(\.text) } == [[], ["milk"]])
    #expect(picture.asked.suffix(2).map(\.state) == [.failed, .succeeded])
    #expect(picture.asked.dropLast().last?.reason == "Blocked by “Move milk”.")
    #expect(picture.canRedo && picture.redoTitle == "Add tent")
  }
}
