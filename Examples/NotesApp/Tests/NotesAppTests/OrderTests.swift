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
    let order = test.app.order
    let second = server.hold("PUT /orders/1-3/parts/200")
    let operation = order.execute(Self.note)
    try await second.arrived.pass()
    try await test.until { order.update == 0.4 }
    let dropped = order.execute(Self.note)
    #expect(dropped.outcome?.isDropped == true && order.update == 0.4)
    second.answer()
    try await operation.settled()
    #expect(order.value?.hasPrefix("Paid") == true && order.update == 1 && !order.isRunning)
    #expect(server.content.charges == ["/orders/1-3/payment"])
    #expect(server.content.parts.count == 3 && server.requests.count == 4)
  }

  @Test(arguments: ["parts/200", "payment"], [NotesServer.Trouble.refused, .unanswered])
  func `an order that failed is paid once when it is tried again`(
    place: String, trouble: NotesServer.Trouble
  ) async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    server.fail("PUT /orders/1-3/\(place)", trouble)
    try await test.app.order.execute(Self.note).settled()
    #expect(test.app.order.error as? ServerError == .away)
    try await test.app.order.execute(Self.note).settled()
    #expect(test.app.order.error == nil)
    // The next launch knows nothing of the order, and its key is the same.
    let next = try await test.relaunched(server)
    try await next.app.order.execute(Self.note).settled()
    #expect(server.content.charges == ["/orders/1-3/payment"])
  }
}

extension UseCaseOutcome {
  fileprivate var isDropped: Bool { if case .cancelled(.dropped) = self { true } else { false } }
}
