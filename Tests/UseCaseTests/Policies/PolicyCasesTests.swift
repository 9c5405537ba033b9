import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct PolicyCasesTests {
  @Test(.holds("unlimited"))
  func `unlimited runs all of three`() async {
    let held = Held(.unlimited)
    let operations = held.executeFirst(3)
    #expect(fates(operations) == "RRR")
    #expect(held.queue.activity.running == 3)
    #expect(held.queue.activity.waiting == 0)
    held.open(1...3)
    await allEnded(operations)
  }

  @Test(.holds("dropWhileBusy"))
  func `dropWhileBusy runs the first of five and drops the others`() async {
    let held = Held(.dropWhileBusy)
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RDDDD")
    held.open(1...5)
    await allEnded(operations)
    #expect(held.begun.elements == [1])
    #expect(held.queue.activity.executed == 5)
    #expect(held.queue.activity.cancelled == 4)
  }

  @Test func `drop with two slots runs two of five`() async {
    let held = Held(.init(limit: 2, whenBusy: .drop))
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RRDDD")
    held.open(1...5)
    await allEnded(operations)
    #expect(held.begun.elements.sorted() == [1, 2])
  }

  @Test(.holds("limit(_:waiting:)"))
  func `a line with an end runs two of seven, lets three wait, and drops the others`() async {
    let held = Held(.limit(2, waiting: 3))
    var operations = held.executeFirst(7)
    #expect(fates(operations) == "RRWWWDD")
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+RRWWDD")
    operations += [held.execute(8), held.execute(9)]
    #expect(fates(operations) == "+RRWWDDWD")
    held.open(2...9)
    await allEnded(operations)
    #expect(fates(operations) == "+++++DD+D")
    #expect(held.begun.elements.sorted() == [1, 2, 3, 4, 5, 8])
    #expect(held.crowd.peak == 2)
  }

  @Test(.holds("limit(_:waiting:)"))
  func `an operation that is cancelled in a line with an end leaves its place`() async {
    let held = Held(.limit(1, waiting: 1))
    var operations = held.executeFirst(2)
    operations[1].cancel()
    operations += [held.execute(3), held.execute(4)]
    #expect(fates(operations) == "RCWD")
    await held.begun.elements(atLeast: 1)
    // It keeps its slot until its body has returned.
    operations[0].cancel()
    operations.append(held.execute(5))
    #expect(fates(operations) == "CCWDD")
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "CC+DD")
  }

  @Test(.holds("limit(_:waiting:)"), arguments: [1, 2])
  func `a line without a place to wait in drops`(limit: Int) async {
    let held = Held(.limit(limit, waiting: 0))
    let operations = held.executeFirst(limit + 1)
    #expect(fates(operations).last == "D")
    held.open(1...limit)
    await allEnded(operations)
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Invalid policies"))
    func `a line with less than no place traps and says so`() async {
      let trap = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { _ = UseCaseQueue.Policy.limit(1, waiting: -1) }
      let output = String(decoding: trap?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("`waiting` must be 0 or more"), "\(output)")
      await #expect(processExitsWith: .failure) {
        _ = UseCaseQueue.Policy.limit(0, waiting: 1)
      }
    }
  #endif

  @Test(.holds("Order of calls", "serial, limit"))
  func `serial starts five in the order of execute`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RWWWW")
    held.open(1...5)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 2, 3, 4, 5])
    #expect(fates(operations) == "+++++")
  }

  @Test(.holds("serial, limit"))
  func `with two slots the third of five starts when the second ends`() async {
    let held = Held(.limit(2))
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RRWWW")
    await held.begun.elements(atLeast: 2)
    held.open(2)
    await operations[1].ended()
    #expect(fates(operations) == "R+RWW")
    held.open(1...5)
    await allEnded(operations)
    #expect(held.crowd.peak == 2)
  }

  @Test(.holds("keepLatest"))
  func `keepLatest runs the first of five, then the last, with its own request`() async throws {
    let held = Held(.keepLatest)
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RSSSW")
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+SSSR")
    held.open(5)
    #expect(try await operations[4].value == 5)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 5])
  }

  @Test(.holds("keepLatest"))
  func `keepLatest with two slots keeps the last of five waiting`() async {
    let held = Held(.init(limit: 2, whenBusy: .keepLatest))
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RRSSW")
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "++SS+")
  }

  @Test func `keepLatest with a free slot and a free place supersedes no operation`() async {
    let held = Held(.init(limit: 2, whenBusy: .keepLatest))
    let first = held.execute(1)
    let operations = [first, held.execute(2), held.execute(3)]
    #expect(fates(operations) == "RRW")
    held.open(1...3)
    await allEnded(operations)
    #expect(fates(operations) == "+++")
  }

  @Test
  func `keepLatest starts the waiting operation when a slot gets free, and the next waits`()
    async
  {
    let held = Held(.init(limit: 2, whenBusy: .keepLatest))
    var operations = held.executeFirst(3)
    held.open(2)
    await operations[1].ended()
    #expect(fates(operations) == "R+R")
    operations.append(held.execute(4))
    #expect(fates(operations) == "R+RW")
    held.open(1...4)
    await allEnded(operations)
  }

  @Test(.holds("cancelPrevious"))
  func `cancelPrevious runs the last of five at once`() async {
    let held = Held(.cancelPrevious)
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "SSSSR")
    await held.begun.elements(atLeast: 1)
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "SSSS+")
  }

  @Test(.holds("cancelPreviousAndWait"))
  func `cancelPreviousAndWait runs the last of five when the first has returned`() async {
    let held = Held(.cancelPreviousAndWait)
    var operations = [held.execute(1)]
    await held.begun.elements(atLeast: 1)
    operations += (2...5).map { held.execute($0) }
    #expect(fates(operations) == "SSSSW")
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "SSSSR")
    held.open(2...5)
    await allEnded(operations)
    #expect(fates(operations) == "SSSS+")
    #expect(held.begun.elements == [1, 5])
    #expect(held.crowd.peak == 1)
  }

  @Test(.holds("cancelPrevious"))
  func `the oldest give way under cancelPrevious with two slots`() async {
    let held = Held(.init(limit: 2, whenBusy: .cancelPrevious))
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "SSSRR")
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "SSS++")
  }

  @Test func `no operation gives way under cancelPrevious when a slot is free again`() async {
    let held = Held(.init(limit: 2, whenBusy: .cancelPrevious))
    var operations = held.executeFirst(3)
    held.open(3)
    await operations[2].ended()
    operations.append(held.execute(4))
    #expect(fates(operations) == "SR+R")
    held.open(1...4)
    await allEnded(operations)
    #expect(fates(operations) == "S+++")
  }

  @Test(arguments: [1, 2, 7])
  func `a limit waits and is never unlimited`(limit: Int) async {
    #expect(UseCaseQueue.Policy.limit(limit) == .init(limit: limit, whenBusy: .wait))
    let held = Held(.limit(limit))
    let operations = held.executeFirst(limit + 2)
    #expect(held.queue.activity.running == limit)
    #expect(held.queue.activity.waiting == 2)
    held.open(1...(limit + 2))
    await allEnded(operations)
    #expect(held.crowd.peak <= limit)
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Invalid policies"))
    func `a limit below one traps and says so`() async {
      let zero = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { _ = UseCaseQueue.Policy.limit(0) }
      let output = String(decoding: zero?.standardErrorContent ?? [], as: UTF8.self)
      // The first line is the message; those below it name functions.
      #expect(output.split(separator: "\n").first?.contains("limit") == true, "\(output)")
      await #expect(processExitsWith: .failure) {
        _ = UseCaseQueue.Policy(limit: -1, whenBusy: .drop)
      }
    }
  #endif

  @Test(.holds("Shared queues"))
  func `two use cases of one type with a queue each never affect each other`() async {
    for policy in [UseCaseQueue.Policy.cancelPrevious, .serial, .dropWhileBusy] {
      let pair = [Held(policy), Held(policy)]
      let operations = pair.map { $0.execute(1) }
      #expect(fates(operations) == "RR")
      for held in pair { held.open(1) }
      await allEnded(operations)
      #expect(fates(operations) == "++")
    }
  }

  @Test(.holds("Shared queues"))
  func `two use cases share one serial queue`() async {
    let queue = UseCaseQueue(.serial)
    let (first, second) = (Held(on: queue), Held(on: queue))
    let operations = [first.execute(1), second.execute(2)]
    #expect(fates(operations) == "RW")
    #expect([queue.activity.running, queue.activity.waiting] == [1, 1])
    first.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+R")
    #expect([queue.activity.running, queue.activity.waiting] == [1, 0])
    second.open(2)
    await operations[1].ended()
    #expect(queue.activity.isIdle)
    #expect(queue.activity.succeeded == 2)
  }

  @Test func `cancelAll reaches both use cases that share a queue`() async {
    let queue = UseCaseQueue(.serial)
    let (first, second) = (Held(on: queue), Held(on: queue))
    let operations = [first.execute(1), second.execute(2)]
    await first.begun.elements(atLeast: 1)
    queue.cancelAll()
    #expect(fates(operations) == "CC")
    first.open(1)
    await queue.idle()
    await allEnded(operations)
    #expect(second.begun.elements.isEmpty)
    #expect(queue.activity.cancelled == 2)
  }
}
