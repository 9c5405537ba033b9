import NotesModels
import NotesServer
import Testing
import UseCase

@Suite(.timeLimit(.minutes(1))) @MainActor
struct OrderTests {
  private static let note = Note(id: 1, text: String(repeating: "Milk ", count: 100), version: 3)

  @Test func `two taps upload once and pay once, and the progress is shown`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    let order = test.app.order(of: 1)
    let second = server.hold("/parts/200")
    let operation = order.execute(Self.note)
    try await second.arrived.pass()
    try await test.until { order.update == 0.4 }
    let dropped = order.execute(Self.note)
    #expect(dropped.outcome?.isDropped == true && order.update == 0.4)
    second.answer()
    try await operation.settled()
    #expect(order.value?.hasPrefix("Paid") == true && order.update == 1 && !order.isRunning)
    #expect(server.content.charges.count == 1)
    #expect(server.content.parts.count == 3 && server.requests.count == 4)
    #expect(test.app.order(of: 2).value == nil)
  }

  @Test func `an order that is refused for good is over`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    server.fail("/payment", .refusedForGood)
    let order = test.app.order(of: 1)
    try await order.execute(Self.note).settled()
    #expect(order.error as? ServerError == .refused(402))
    try await order.execute(Note(id: 1, text: "Tea", version: 4)).settled()
    #expect(order.value == "Paid: a print of “Tea”" && server.content.charges.count == 1)
  }

  @Test(arguments: ["/parts/200", "/payment"], [NotesServer.Trouble.refused, .unanswered])
  func `an order that failed is paid once when it is tried again`(
    place: String, trouble: NotesServer.Trouble
  ) async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    server.fail(place, trouble)
    let order = test.app.order(of: 1)
    try await order.execute(Self.note).settled()
    #expect(order.error as? ServerError == .away)
    // The next launch has edited the note meanwhile. The order is the one that has no receipt.
    let next = try await test.relaunched(server)
    for order in [order, next.app.order(of: 1)] {
      try await order.execute(Note(id: 1, text: "Tea", version: 4)).settled()
      #expect(order.error == nil && order.value?.contains("Milk") == true)
    }
    #expect(server.content.charges.count == 1)
  }
}

extension UseCaseOutcome {
  fileprivate var isDropped: Bool { if case .cancelled(.dropped) = self { true } else { false } }
}
