import Foundation
import UseCase

/// Uploads a note in parts, and pays for a print of it.
///
/// The order is in the file of this device until its receipt is there. So an order that is tried again,
/// also by the next launch, is the same one, though the note was edited meanwhile: it is paid once.
package struct OrderPrint: ReportingUseCase {
  static let partLength = 200
  let server: Server
  let file: NotesFile
  let lanes = UseCaseLanes<Note.ID>(.dropWhileBusy)

  package func queue(for note: Note) -> UseCaseQueue { lanes[note.id] }

  /// Returns the receipt.
  package func main(
    _ note: Note, report: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    let order = try file.change { content in
      let order = content.orders[note.id] ?? Order(note: note)
      content.orders[note.id] = order
      return order
    }
    let receipt: String
    do {
      receipt = try await send(order, report)
    } catch ServerError.refused(let status) where 400..<500 ~= status {
      try file.change { content in content.orders[note.id] = nil }
      throw ServerError.refused(status)
    }
    try file.change { content in content.orders[note.id] = nil }
    return receipt
  }

  private func send(_ order: Order, _ report: @Sendable (Double) -> Void) async throws -> String {
    let letters = Array(order.note.text)
    for start in stride(from: 0, to: letters.count, by: Self.partLength) {
      let end = min(start + Self.partLength, letters.count)
      let _: String = try await server.put(
        "orders/\(order.id)/parts/\(start)", String(letters[start..<end]))
      report(Double(end) / Double(letters.count))
    }
    return try await server.put("orders/\(order.id)/payment", order.note.title)
  }
}

struct Order: Codable, Sendable {
  var id = UUID()
  let note: Note
}
