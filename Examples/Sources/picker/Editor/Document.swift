/// The line of text that the use cases share and change.
@MainActor
final class Document {
  private(set) var line: TextLine

  init(_ line: TextLine) {
    self.line = line
  }

  func change<Refusal>(
    _ change: @Sendable (inout TextLine) throws(Refusal) -> Void
  ) throws(Refusal) {
    try change(&line)
  }
}
