import TestSupport
import Testing
import UseCase

/// The code of “Coming from another library”, about Dispatch.
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
}
