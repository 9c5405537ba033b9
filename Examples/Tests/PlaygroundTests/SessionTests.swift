import Foundation
import Testing
import UseCase

@testable import playground

struct SessionTests {
  /// The events of a row, as keystroke and word.
  private func told(_ events: [String], of row: Int) -> [String] {
    events.compactMap { event in
      let parts = event.dropFirst().dropLast().split(separator: ",")
      return parts[1] == "\(row)" ? "\(parts[2]) \(parts[3].dropFirst().dropLast())" : nil
    }
  }

  @Test func `the answers of the same keystrokes are stale under one policy and not another`()
    async throws
  {
    // So slow that no keystroke comes after an answer, however busy the machine is.
    let session = Session(weather: Weather(latency: 1500), isRecorded: true)
    await session.open()
    for count in 1...5 { await session.type(String("swift".prefix(count))) }
    await session.ended()
    let events = session.log.takeRuns()
    #expect(told(events, of: 0).contains("4 stale"))
    // A limit of two lets answers overtake each other too.
    for row in 1..<NamedPolicy.all.count where row != 7 {
      #expect(!told(events, of: row).contains { $0.hasSuffix("stale") })
    }
    let newest = told(events, of: 1)
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
    await session.ended()
    let events = session.log.takeRuns()
    let serial = told(events, of: 6)
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
  }
}

struct ComposedPolicyTests {
  @Test(arguments: [
    (ComposedPolicy(), ".keepLatest.debounced(by: .milliseconds(300), atMost: .seconds(1))"),
    (ComposedPolicy(debounce: 0), ".keepLatest"),
    (
      ComposedPolicy(rule: .cancelPrevious, longest: 0),
      ".cancelPrevious.debounced(by: .milliseconds(300))"
    ),
    (
      ComposedPolicy(rule: .drop, debounce: 0, interval: 500),
      ".dropWhileBusy.spaced(by: .milliseconds(500))"
    ),
    (
      ComposedPolicy(rule: .wait, debounce: 0, waiting: 3, isByPriority: true),
      ".serial.byPriority.waiting(atMost: 3)"
    ),
    (
      ComposedPolicy(rule: .wait, limit: 2, debounce: 0, starts: 4, interval: 1000),
      ".limit(2).rate(4, per: .seconds(1))"
    ),
    (
      ComposedPolicy(rule: .keepLatest, limit: 2, debounce: 0),
      ".init(limit: 2, whenBusy: .keepLatest)"
    ),
  ])
  func `a policy is written as it is put together`(composed: ComposedPolicy, name: String) {
    #expect(composed.complaint == nil && composed.name == name)
    #expect(composed.row.code == "UseCaseQueue(\(name))")
  }

  @Test func `the code of a policy makes that policy`() {
    let policies: [(ComposedPolicy, UseCaseQueue.Policy)] = [
      (
        ComposedPolicy(),
        .keepLatest.debounced(by: .milliseconds(300), atMost: .seconds(1))
      ),
      (
        ComposedPolicy(rule: .wait, limit: 2, debounce: 0, starts: 4, interval: 1000, waiting: 3),
        .limit(2).waiting(atMost: 3).rate(4, per: .seconds(1))
      ),
      (
        ComposedPolicy(rule: .drop, debounce: 0, interval: 500),
        .dropWhileBusy.spaced(by: .milliseconds(500))
      ),
    ]
    for (composed, policy) in policies { #expect(composed.policy == policy) }
  }

  /// Every combination either has a sentence against it or makes a policy: none traps.
  @Test func `what cannot be combined has a sentence, and everything else a policy`() {
    var count = 0
    for rule in ComposedPolicy.Rule.allCases {
      for limit in [0, 1, 2] {
        for (debounce, longest) in [(0, 0), (0, 100), (300, 0), (300, 100), (300, 900)] {
          for (starts, interval) in [(0, 0), (1, 0), (3, 1000)] {
            for waiting in [nil, -1, 0, 3] {
              for isByPriority in [false, true] {
                let composed = ComposedPolicy(
                  rule: rule, limit: limit, debounce: debounce, longest: longest, starts: starts,
                  interval: interval, waiting: waiting, isByPriority: isByPriority)
                guard composed.complaint == nil else { continue }
                #expect(composed.policy.hashValue == composed.policy.hashValue)
                count += 1
              }
            }
          }
        }
      }
    }
    #expect(count > 50)
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
    await desk.ended()
    let items = await desk.picture.lists.map(\.items)
    let milk = try #require(items.first?.first?.id)
    try await desk.perform(request(#"{"action":"move","item":\#(milk)}"#))
    await desk.ended()
    let entries = await desk.picture.entries
    #expect(entries.map(\.title) == ["Add milk", "Add tent", "Move milk"])
    #expect(entries.map(\.blockers) == [[entries[2].id], [], []])
    for index in [0, 1] {
      try await desk.perform(request(#"{"action":"undoEntry","entry":\#(entries[index].id.json)}"#))
      await desk.ended()
    }
    let picture = await desk.picture
    #expect(picture.lists.map { $0.items.map(\.text) } == [[], ["milk"]])
    #expect(picture.asked.suffix(2).map(\.state) == [.failed, .succeeded])
    #expect(picture.asked.dropLast().last?.reason == "Blocked by “Move milk”.")
    #expect(picture.canRedo && picture.redoTitle == "Add tent")
  }

  @Test func `each list has an undo of its own`() async throws {
    let desk = UndoDesk(log: EventLog())
    let requests = [
      #"{"action":"trouble","trouble":{"latency":0,"failures":0,"failsNext":false}}"#,
      #"{"action":"add","list":0,"text":"milk"}"#, #"{"action":"add","list":1,"text":"tent"}"#,
      #"{"action":"undo","list":0}"#,
    ]
    for json in requests { try await desk.perform(request(json)) }
    await desk.ended()
    var picture = await desk.picture
    #expect(picture.lists.map { $0.items.map(\.text) } == [[], ["tent"]])
    #expect(picture.lists.map(\.undoTitle) == [nil, "Add tent"])
    #expect(picture.lists.map(\.redoTitle) == ["Add milk", nil])
    // An item that is moved belongs to both.
    try await desk.perform(request(#"{"action":"redo","list":0}"#))
    await desk.ended()
    let milk = try #require(await desk.picture.lists.first?.items.first?.id)
    try await desk.perform(request(#"{"action":"move","item":\#(milk)}"#))
    await desk.ended()
    picture = await desk.picture
    #expect(picture.lists.map(\.undoTitle) == ["Move milk", "Move milk"])
  }

  @Test func `there is something to undo at once, and an undo of nothing is told as such`()
    async throws
  {
    let desk = UndoDesk(log: EventLog())
    await desk.open()
    let entries = await desk.picture.entries
    #expect(entries.map(\.title) == ["Add milk", "Add tent", "Check milk", "Add bread"])
    #expect(entries.map(\.isApplied) == [true, true, true, false])
    #expect(await desk.picture.asked.isEmpty)
    try await desk.perform(
      request(#"{"action":"trouble","trouble":{"latency":0,"failures":0,"failsNext":false}}"#))
    for _ in 1...4 { try await desk.perform(request(#"{"action":"undo"}"#)) }
    await desk.ended()
    let asked = await desk.picture.asked
    #expect(asked.map(\.state) == [.succeeded, .succeeded, .succeeded, .nothing])
    #expect(asked.last?.reason == "There is nothing to undo.")
  }

  @Test func `only so many requests are under way, and only the newest are listed`() async throws {
    let desk = UndoDesk(log: EventLog())
    let slow = #"{"action":"trouble","trouble":{"latency":20,"failures":0,"failsNext":false}}"#
    try await desk.perform(request(slow))
    for _ in 0..<100 { try await desk.perform(request(#"{"action":"undo"}"#)) }
    try await desk.perform(request(#"{"action":"add","list":0,"text":"milk"}"#))
    for _ in 0..<100 { try await desk.perform(request(#"{"action":"undo"}"#)) }
    let asked = await desk.picture.asked
    #expect(asked.count <= UndoDesk.capacity + 8)
    #expect(Set(asked.map(\.id)).count == asked.count)
    await desk.ended()
  }
}
