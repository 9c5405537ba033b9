import UseCase

/// Uploads a note in parts, and pays for a print of it. The id and the version of the note are the
/// key of the order: whatever is sent twice, also by the next launch, is paid once.
package struct OrderPrint: ReportingUseCase {
  static let partLength = 200
  let server: Server
  package let queue = UseCaseQueue(.dropWhileBusy)

  /// Returns the receipt.
  package func main(
    _ note: Note, report: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    let order = "orders/\(note.id)-\(note.version)"
    let letters = Array(note.text)
    for start in stride(from: 0, to: letters.count, by: Self.partLength) {
      let end = min(start + Self.partLength, letters.count)
      let _: String = try await server.put(
        "\(order)/parts/\(start)", String(letters[start..<end]))
      report(Double(end) / Double(letters.count))
    }
    return try await server.put("\(order)/payment", note.title)
  }
}
