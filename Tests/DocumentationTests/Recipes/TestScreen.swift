/// The lines that a recipe shows: a view of an app.
@MainActor
final class TestScreen {
  private(set) var lines: [String] = []

  func show(_ line: String) {
    lines.append(line)
  }
}
