import TestSupport
import Testing
import UseCase

/// The code of “Choosing a policy”, and of its Spanish version.
@Suite(.mustEnd)
struct ChoosingAPolicyTests {
  @Test func `a policy of one's own supersedes the oldest of three`() async {
    let downloads = UseCaseQueue(.init(limit: 3, whenBusy: .cancelPrevious))

    let gate = Gate()
    let download = AnyUseCase<Int, Void>(queue: downloads) { _ in
      await gate.passIgnoringCancellation()
    }
    let operations = (1...4).map { download.execute($0) }
    #expect(operations.map(\.state) == [.finished, .running, .running, .running])
    gate.open()
    for operation in operations { await operation.ended() }
  }

  @Test func `a throttled preview starts at once, and keeps the newest waiting`() async {
    let preview = UseCaseQueue(.throttle(.milliseconds(700)))

    let gate = Gate()
    let draw = AnyUseCase<Int, Void>(queue: preview) { _ in await gate.passIgnoringCancellation() }
    let operations = (1...3).map { draw.execute($0) }
    #expect(operations.map(\.state) == [.running, .finished, .waiting])
    preview.cancelAll()
    gate.open()
    await preview.idle()
  }

  @Test func `two use cases that share a serial queue wait for each other`() async throws {
    let bank = Bank()
    let account = UseCaseQueue(.serial)
    let deposit = AnyUseCase<Int, Int>(queue: account) { amount in
      try await bank.add(amount)
    }
    let withdraw = AnyUseCase<Int, Int>(queue: account) { amount in
      try await bank.add(-amount)
    }

    account.suspend()
    let operations = [deposit.execute(5), withdraw.execute(3)]
    account.resume()
    #expect(operations.map(\.state) == [.running, .waiting])
    bank.isOpen.open()
    #expect(try await operations[1].value == 2)
  }
}

private actor Bank {
  nonisolated let isOpen = Gate()
  private var balance = 0

  func add(_ amount: Int) async throws -> Int {
    await isOpen.passIgnoringCancellation()
    balance += amount
    return balance
  }
}
