import Testing

@testable import UseCaseHistory

/// What is written next, and who has the journal. Waiters and chores are numbers here.
struct JournalQueueTests {
  private typealias Queue = JournalQueue<Int, Int>
  private typealias ID = HistoryEntry.ID

  private static let error = HistoryJournalError(.cannotWrite)
  private static let pair = HistoryPair(name: "write", request: [])

  @Test(arguments: [false, true])
  func `what was asked for while a transaction had the journal is written behind it`(
    isAsked: Bool
  ) {
    var queue = Queue()
    _ = queue.takeTurn(1)
    queue.put(.saved(nil))
    if isAsked { _ = queue.claim() }
    let isWritten = if case .write = queue.endTurn() { queue.claim() } else { false }
    let batch = isWritten ? queue.next() : nil
    #expect(isWritten == isAsked && batch?.facts.count == (isAsked ? 1 : nil))
  }

  @Test func `what was written already is not asked for any more`() throws {
    var queue = Queue()
    _ = queue.takeTurn(1)
    queue.put(.saved(nil))
    _ = queue.claim()
    _ = (queue.endTurn(), queue.claim(), queue.next(), queue.next())
    _ = queue.takeTurn(2)
    queue.put(.saved(nil))
    guard case .rest = queue.endTurn() else {
      Issue.record("Nobody has asked for that.")
      return
    }
  }

  @Test func `what was asked for during a write is not asked for behind it`() {
    var queue = Queue()
    queue.put(.saved(nil))
    let (isFirst, isSecond) = (queue.claim(), queue.claim())
    let batches = [queue.next(), queue.next()]
    _ = queue.takeTurn(1)
    queue.put(.saved(nil))
    #expect(isFirst && !isSecond && batches.map { $0?.facts.count } == [1, nil])
    guard case .rest = queue.endTurn() else {
      Issue.record("Nobody has asked for that.")
      return
    }
  }

  @Test func `what is written at once is asked for no more`() {
    var queue = Queue()
    _ = queue.takeTurn(1)
    queue.put(.saved(nil))
    _ = (queue.claim(), queue.takeFacts(), queue.endTurn())
    _ = queue.claim(.saved(nil))
    queue.put(.saved(nil))
    guard case .rest = queue.endTurn() else {
      Issue.record("Nobody has asked for that.")
      return
    }
  }

  @Test func `a chore alone needs somebody who does it, and nothing needs nobody`() {
    var queue = Queue()
    let isClaimed = queue.claim()
    queue.put(5)
    let isAsked = queue.claim()
    #expect(!isClaimed && isAsked)
  }

  @Test func `one writes at a time, and a chore waits for a task of its own`() {
    var queue = Queue()
    let first = queue.claim(.saved(nil))
    queue.put(.saved(nil))
    let (isClaimed, second) = (queue.claim(), queue.claim(.saved(nil)))
    _ = queue.endTurn()
    queue.put(5)
    let third = queue.claim(.saved(nil))
    #expect(first?.facts.count == 1 && !isClaimed && second == nil && third == nil)
  }

  @Test func `a write that succeeds lets what nobody waits for follow`() throws {
    var queue = Queue()
    queue.put(.saved(nil))
    _ = queue.claim()
    let first = queue.next()
    _ = queue.failed(try #require(first), Self.error)
    let isStuck = queue.next() == nil
    queue.put(.saved(nil), 7)
    let second = queue.next()
    _ = queue.wrote(try #require(second))
    queue.put(5)
    let third = queue.next()
    #expect(isStuck && third?.chores == [5])
  }

  @Test func `a step that is withdrawn no longer runs`() {
    var queue = Queue()
    let id = ID(1)
    queue.put(.moving(id))
    let taken = queue.takeFacts()
    #expect(queue.lastIfQuiet == nil)
    queue.withdraw(id, taken)
    #expect(queue.lastIfQuiet == 1)
  }

  @Test(arguments: [HistoryFact.End.recorded, .part, .merged, .annulled, .lost])
  func `the record of a transaction implies an end that changes no other entry`(
    end: HistoryFact.End
  ) {
    var queue = Queue()
    queue.put(.ended(ID(1), end))
    #expect(queue.isImplied == [.recorded, .part, .merged].contains(end))
  }

  @Test(arguments: [
    HistoryFact.cleared, .saved(nil), .forgot(ID(1)), .limited(1), .discarded([ID(1)]),
    .undone(ID(1)), .combined(ID(1), pair),
  ])
  func `the record of a transaction implies no change of its own`(fact: HistoryFact) {
    var queue = Queue()
    queue.put(fact)
    #expect(!queue.isImplied)
  }

  @Test func `that an execution does not merge is implied only if no record says that it does`() {
    var queue = Queue()
    queue.put(.combined(ID(1), Self.pair))
    _ = queue.wrote(queue.takeFacts())
    queue.put(.ended(ID(1), .recorded))
    #expect(!queue.isImplied)
    // A transaction between takes it, and fails.
    queue.withdraw(ID(2), queue.takeFacts())
    #expect(!queue.isImplied)
    _ = queue.wrote(queue.takeFacts())
    queue.put(.ended(ID(1), .recorded))
    #expect(queue.isImplied)
  }
}
