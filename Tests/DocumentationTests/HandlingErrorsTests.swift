import TestSupport
import Testing
import UseCase

/// The code of “Handling errors”.
@Suite(.mustEnd) @MainActor
struct HandlingErrorsTests {
  struct Order: Sendable {
    let card: String
  }

  struct BankError: Error {
    let code: Int
  }

  struct CardDeclined: Error, CustomStringConvertible {
    let card: String
    var description: String { "The bank declined the card \(card)." }
  }

  struct Pay: UseCase {
    let bank: @Sendable (Order) async throws -> String
    let queue = UseCaseQueue(.dropWhileBusy)
    let timeout = Duration.seconds(20)

    func main(_ order: Order) async throws -> String {
      do {
        return try await bank(order)
      } catch let error as BankError where error.code == 51 {
        throw CardDeclined(card: order.card)
      }
    }
  }

  private let order = Order(card: "1234")
  private let screen = TestScreen()

  private func pay(_ answer: @escaping @Sendable () throws -> String) -> Pay {
    Pay { _ in try answer() }
  }

  @Test func `an operation has one of three outcomes`() async {
    let gate = Gate()
    let busy = Pay { _ in
      await gate.passIgnoringCancellation()
      return "paid"
    }
    let first = busy.execute(order)
    for pay in [
      pay { "paid" }, pay { throw BankError(code: 51) }, pay { throw CancellationError() }, busy,
    ] {
      switch await pay.outcome(of: order) {
      case .success(let receipt): screen.show(receipt)
      case .failure(let error): screen.show("Not paid: \(error)")
      case .cancelled(.dropped): screen.show("A payment is on its way.")
      case .cancelled(let reason): screen.show("Cancelled: \(reason)")
      }
    }
    gate.open()
    await first.ended()
    #expect(
      screen.lines == [
        "paid", "Not paid: The bank declined the card 1234.", "Cancelled: thrown",
        "A payment is on its way.",
      ])
  }

  @Test func `the call that returns the outcome says that the queue is busy`() async {
    struct Pay: UseCase {
      let gate: Gate
      let queue = UseCaseQueue(.dropWhileBusy)
      func main(_ order: Int) async throws -> String {
        await gate.passIgnoringCancellation()
        return "paid"
      }
    }
    let (pay, order) = (Pay(gate: Gate()), 5)
    let first = pay.execute(order)

    switch await pay.outcome(of: order) {
    case .success(let receipt): print(receipt)
    case .cancelled(.dropped): print("A payment is on its way.")
    case .failure(let error): print("failed: \(error)")
    case .cancelled: break
    }
    #expect(pay.queue.activity.cancelled == 1)
    pay.gate.open()
    await first.ended()
  }

  @Test func `a typed catch does not keep the error from the others`() async {
    let (screen, errors) = (screen, Log<String>())
    @Sendable func log(_ error: any Error) { errors.append("\(error)") }
    let attempts = [
      pay { throw BankError(code: 51) }, pay { throw UseCaseTimeout(duration: .seconds(20)) },
      pay { "paid" },
    ]
    for pay in attempts {
      let operation =
        pay.execute(order)
        .then { receipt in screen.show(receipt) }
        .catch(CardDeclined.self) { error in
          screen.show("Declined: \(error.card)")
        }
        .catch(UseCaseTimeout.self) { _ in screen.show("The bank is too slow.") }
        .catch { error in log(error) }
      await operation.ended()
    }
    #expect(
      screen.lines == ["Declined: 1234", "The bank is too slow.", "paid"])
    #expect(
      errors.elements == [
        "The bank declined the card 1234.", "It took longer than 20 seconds.",
      ])
  }

  @Test func `one handler decides by the type`() async {
    let screen = screen
    for code in [51, 7] {
      let pay = pay { throw BankError(code: code) }
      let operation =
        pay.execute(order).catch { error in
          switch error {
          case is CardDeclined: screen.show("Use another card.")
          default: screen.show("\(error)")
          }
        }
      await operation.ended()
    }
    #expect(screen.lines == ["Use another card.", "BankError(code: 7)"])
  }

  @Test func `the call form throws`() async throws {
    let busy = UseCaseQueue(.dropWhileBusy)
    let gate = Gate()
    AnyUseCase<Void, Void>(queue: busy) { await gate.passIgnoringCancellation() }.execute()
    let dropped = AnyUseCase<Order, String>(queue: busy) { _ in "paid" }
    for pay in [
      AnyUseCase(pay { "paid" }), AnyUseCase(pay { throw BankError(code: 51) }), dropped,
    ] {
      do {
        screen.show(try await pay(order))
      } catch is CardDeclined {
        screen.show("Use another card.")
      } catch is CancellationError {
        screen.show("Cancelled")
      }
    }
    #expect(screen.lines == ["paid", "Use another card.", "Cancelled"])
    #expect(!Task.isCancelled)
    gate.open()
    await busy.idle()
  }

  #if os(Linux) || os(macOS)
    /// In a process of its own, because the hook for unhandled failures is one for the process.
    @Test func `a failure that nobody handles is heard of`() async {
      await #expect(processExitsWith: .success) {
        let failures = Log<String>()
        @Sendable func log(_ failure: UseCaseUnhandledFailure) {
          failures.append("\(failure.error)")
        }
        UseCaseQueue.unhandledFailure = { failure in log(failure) }
        AnyUseCase<Void, Void> { throw BankError(code: 7) }.execute()
        #expect(await failures.elements(atLeast: 1) == ["BankError(code: 7)"])
      }
    }
  #endif
}
