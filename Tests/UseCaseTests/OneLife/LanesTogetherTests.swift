import TestSupport
import Testing
import UseCase

/// All lanes are suspended, resumed, closed and counted together.
@Suite(.mustEnd)
struct LanesTogetherTests {
  /// Held bodies on a lane for each tens digit of the request.
  private struct HeldOnLanes: UseCase {
    let lanes: UseCaseLanes<Int>
    let held = Held()

    init(_ policy: UseCaseQueue.Policy = .serial) { lanes = UseCaseLanes(policy) }

    func queue(for request: Int) -> UseCaseQueue { lanes[request / 10] }
    func main(_ request: Int) async -> Int { await held.main(request) }
  }

  @Test func `suspend holds all lanes, also those that come, and resume lets them go on`() async {
    let useCase = HeldOnLanes()
    useCase.held.open(10...39)
    let running = useCase.lanes[1]
    useCase.lanes.suspend()
    #expect(useCase.lanes.isSuspended && running.isSuspended && useCase.lanes[7].isSuspended)
    let operations = [11, 12, 21].map { useCase.execute($0) }
    #expect(fates(operations) == "WWW")
    #expect(useCase.lanes.activity == UseCaseActivity(waiting: 3))
    useCase.lanes.resume()
    #expect(!useCase.lanes.isSuspended && !running.isSuspended && !useCase.lanes[7].isSuspended)
    await allEnded(operations)
    #expect(fates(operations) == "+++")
    #expect(useCase.held.begun.elements.filter { $0 < 20 } == [11, 12])
  }

  @Test func `what runs goes on while all lanes are suspended`() async {
    let useCase = HeldOnLanes()
    let operations = [11, 12].map { useCase.execute($0) }
    useCase.lanes.suspend()
    useCase.held.open(11...12)
    await operations[0].ended()
    #expect(fates(operations) == "+W")
    useCase.lanes.resume()
    await operations[1].ended()
  }

  @Test func `a lane that is suspended itself stays so when all are resumed`() async {
    let useCase = HeldOnLanes()
    useCase.held.open(11...21)
    let lane = useCase.lanes[1]
    lane.suspend()
    useCase.lanes.suspend()
    let operations = [11, 21].map { useCase.execute($0) }
    useCase.lanes.resume()
    await operations[1].ended()
    #expect(fates(operations) == "W+" && lane.isSuspended)
    lane.resume()
    await operations[0].ended()
    #expect(!lane.isSuspended)
  }

  @Test func `a lane that is resumed itself waits for all to be resumed`() async {
    let useCase = HeldOnLanes()
    useCase.held.open(11)
    useCase.lanes.suspend()
    let lane = useCase.lanes[1]
    let operation = useCase.execute(11)
    lane.suspend()
    lane.resume()
    #expect(lane.isSuspended && operation.fate == "W")
    useCase.lanes.resume()
    await operation.ended()
  }

  @Test func `a lane is suspended itself for as long as it lasts`() {
    let lanes = UseCaseLanes<Int>()
    lanes[1].suspend()
    #expect(!lanes[1].isSuspended && lanes.count == 0)
    let lane = lanes[1]
    lane.suspend()
    #expect(lanes[1].isSuspended)
    withExtendedLifetime(lane) {}
  }

  @Test func `close refuses in all lanes, also in those that come`() async {
    let useCase = HeldOnLanes()
    let before = [11, 12].map { useCase.execute($0) }
    useCase.lanes.close()
    #expect(useCase.lanes.isClosed && useCase.lanes[1].isClosed && useCase.lanes[9].isClosed)
    let refused = [13, 91].map { useCase.execute($0) }
    #expect(fates(before + refused) == "RWLL")
    useCase.held.open(11...12)
    await useCase.lanes.idle()
    #expect(fates(before) == "++")
    #expect(useCase.lanes.activity == UseCaseActivity(succeeded: 2, cancelled: 2))
  }

  @Test func `a lane that is closed itself is closed for as long as it lasts`() async {
    let useCase = HeldOnLanes()
    useCase.held.open(11...12)
    do {
      let lane = useCase.lanes[1]
      lane.close()
      #expect(useCase.execute(11).fate == "L")
    }
    await useCase.lanes.idle()
    while useCase.lanes.count > 0 { await Task.yield() }
    #expect(!useCase.lanes[1].isClosed)
    let operation = useCase.execute(12)
    await operation.ended()
    #expect(operation.fate == "+")
  }

  @Test func `activity counts all lanes since the start, also those that are gone`() async {
    let useCase = HeldOnLanes(.dropWhileBusy)
    useCase.held.open(100...400)
    for ten in 10..<40 { await useCase.execute(ten * 10).ended() }
    while useCase.lanes.count > 0 { await Task.yield() }
    #expect(useCase.lanes.activity == UseCaseActivity(succeeded: 30))
    let running = [11, 21].map { useCase.execute($0) }
    let dropped = useCase.execute(12)
    #expect(useCase.lanes.activity == UseCaseActivity(running: 2, succeeded: 30, cancelled: 1))
    running[0].cancel()
    useCase.held.open(11)
    await running[0].ended()
    #expect(useCase.lanes.activity == UseCaseActivity(running: 1, succeeded: 30, cancelled: 2))
    useCase.held.open(21)
    await allEnded(running + [dropped])
    await useCase.lanes.idle()
    #expect(useCase.lanes.activity == UseCaseActivity(succeeded: 31, cancelled: 2))
  }

  @Test func `idle does not wait for what waits in lanes that are suspended`() async {
    let useCase = HeldOnLanes()
    let running = useCase.execute(11)
    await useCase.held.begun.elements(atLeast: 1)
    useCase.lanes.suspend()
    let waiting = [12, 21].map { useCase.execute($0) }
    useCase.held.open(11...21)
    await useCase.lanes.idle()
    #expect(fates([running] + waiting) == "+WW")
    useCase.lanes.resume()
    await useCase.lanes.idle()
    #expect(fates(waiting) == "++")
  }

  @Test func `cancelAll reaches what waits in suspended lanes`() async {
    let useCase = HeldOnLanes()
    useCase.lanes.suspend()
    let operations = [11, 21].map { useCase.execute($0) }
    useCase.lanes.cancelAll()
    #expect(fates(operations) == "CC")
    await allEnded(operations)
    #expect(useCase.lanes.activity == UseCaseActivity(cancelled: 2))
    #expect(useCase.lanes.isSuspended)
  }

  @Test func `suspend, resume and close from handlers and bodies of a lane hang nothing`() async {
    let useCase = HeldOnLanes()
    let lanes = useCase.lanes
    useCase.held.open(10...99)
    for round in 1...9 {
      let operation = AnyUseCase<Int, Int>(queue: lanes[round]) { number in
        lanes.suspend()
        _ = lanes.activity
        lanes.resume()
        return number
      }
      .execute(round).finally {
        lanes.suspend()
        lanes.resume()
        if round == 9 { lanes.close() }
      }
      await operation.ended()
    }
    #expect(lanes.isClosed)
    await lanes.idle()
  }

  @Test func `in races of suspend and resume nothing is lost`() async {
    let useCase = HeldOnLanes()
    useCase.held.open(0...99)
    let ended = Watched(0)
    await withTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          for number in 0..<100 {
            if worker == 0, number.isMultiple(of: 3) { useCase.lanes.suspend() }
            if worker == 1 { useCase.lanes.resume() }
            useCase.execute(number).finally { ended.update { $0 += 1 } }
            if number.isMultiple(of: 10) { await Task.yield() }
          }
        }
      }
    }
    useCase.lanes.resume()
    await useCase.lanes.idle()
    #expect(useCase.lanes.activity == UseCaseActivity(succeeded: 400))
    await ended.wait { $0 == 400 }
  }
}

/// To let a lane go costs the same, however many there are.
@Suite(.serialized, .mustEnd)
struct LanesReleaseTests {
  /// How long it takes to let that many lanes go at once, looked up by nobody else.
  private func cost(of count: Int) -> Duration {
    let lanes = UseCaseLanes<Int>()
    let held = Watched((0..<count).map { lanes[$0] })
    #expect(lanes.count == count)
    let start = threadTime()
    held.update { $0 = [] }
    let cost = threadTime() - start
    #expect(lanes.count == 0)
    return cost
  }

  @Test func `a hundred thousand lanes are let go at once`() {
    let few = (1...3).map { _ in cost(of: 10_000) }.min() ?? .zero
    let many = (1...3).map { _ in cost(of: 100_000) }.min() ?? .zero
    // Ten times as many cost ten times as much, and not a hundred times.
    #expect(many < few * 40, "\(many) against \(few)")
    #expect(many < .seconds(10))
  }

  @Test func `a hundred thousand lanes whose operations end at once go`() async {
    struct Load: UseCase {
      let lanes = UseCaseLanes<Int>()
      let gate = Gate()
      func queue(for request: Int) -> UseCaseQueue { lanes[request] }
      func main(_ request: Int) async { await gate.passIgnoringCancellation() }
    }
    let load = Load()
    let count = tries("LANES", or: 20_000)
    for key in 0..<count { load.execute(key) }
    #expect(load.lanes.count == count)
    load.gate.open()
    await load.lanes.idle()
    while load.lanes.count > 0 { await Task.yield() }
    #expect(load.lanes.activity == UseCaseActivity(succeeded: count))
  }
}
