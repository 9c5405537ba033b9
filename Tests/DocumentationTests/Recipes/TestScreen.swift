/// What a recipe shows, line by line: a view of an app.
@MainActor
final class TestScreen {
  private(set) var lines: [String] = []

  func show(_ line: String) {
    lines.append(line)
  }
}
