import TestSupport
import Testing
import UseCase

/// The code of “Migrating from GCD and OperationQueue”.
@Suite(.mustEnd) @MainActor
struct FromDispatch {
  actor Account {
    private var stored = 0

    func balance() async throws -> Int { stored }

    func setBalance(_ balance: Int) async throws -> Int {
      await Task.yield()
      stored = balance
      return balance
    }
  }

  struct Deposit: UseCase {
    let account: Account
    let queue = UseCaseQueue(.serial)

    func main(_ amount: Int) async throws -> Int {
      let balance = try await account.balance()
      return try await account.setBalance(balance + amount)
    }
  }

  @Test func `deposits never overlap, though each awaits twice`() async {
    let (deposit, screen) = (Deposit(account: Account()), TestScreen())
    let operations = (1...10).map { _ in
      deposit.execute(5).then { balance in screen.show("\(balance)") }
    }
    for operation in operations { await operation.ended() }
    #expect(screen.lines.sorted() == (1...10).map { "\(5 * $0)" }.sorted())
  }

  @Test func `a debounced search cancels the one that has begun`() async throws {
    let controlled = ControlledUseCase<String, [String]>()
    let server = Server(answer: controlled)
    let search = AnyUseCase<String, [String]>(
      queue: UseCaseQueue(.cancelPrevious(debounce: .milliseconds(300)))
    ) { text in
      try await server.search(text)
    }
    let first = search.execute("e")
    let call = try await controlled.next()
    let second = search.execute("em")
    try await call.cancelled()
    await first.ended()
    try await controlled.next().succeed(["Emma"])
    #expect(try await second.value == ["Emma"])
  }

  struct Server: Sendable {
    let answer: any UseCase<String, [String]>

    func search(_ text: String) async throws -> [String] { try await answer(text) }
  }

  struct Resize: UseCase {
    let download: any UseCase<String, String>
    let queue = UseCaseQueue(.limit(2))  // maxConcurrentOperationCount

    func main(_ name: String) async throws -> String {
      let photo = try await download(name)  // addDependency
      return "small \(photo)"
    }
  }

  @Test func `a dependency is called inside the body, within the limit`() async throws {
    let bodies = Watched((now: 0, most: 0))
    let gate = Gate()
    let download = AnyUseCase<String, String>(queue: UseCaseQueue(.serial)) { name in
      bodies.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      await gate.passIgnoringCancellation()
      bodies.update { $0.now -= 1 }
      return "\(name).png"
    }
    let resize = Resize(download: download)
    let operations = ["a", "b", "c"].map { name in
      resize.execute(name, priority: .background)  // qualityOfService
    }
    #expect(resize.queue.activity.waiting == 1)
    gate.open()
    await resize.queue.idle()  // waitUntilAllOperationsAreFinished
    var photos: [String] = []
    for operation in operations { photos.append(try await operation.value) }
    #expect(photos == ["small a.png", "small b.png", "small c.png"])
    #expect(bodies.value.most == 1)
  }

  @Test func `a suspended queue starts nothing, and is emptied by cancelAll`() async {
    let queue = UseCaseQueue(.limit(2))
    let resize = AnyUseCase<Int, Int>(queue: queue) { $0 }
    queue.suspend()  // isSuspended = true
    let operation = resize.execute(1)
    #expect(operation.state == .waiting)
    queue.cancelAll()  // cancelAllOperations
    await operation.ended()
    #expect(queue.activity.isIdle && queue.activity.cancelled == 1)
  }
}
