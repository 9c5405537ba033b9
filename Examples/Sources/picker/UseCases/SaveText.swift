import UseCase

/// Writes the line to its file.
struct SaveText: UseCase {
  let file: TextFile

  /// One save at a time, and then the newest of those that wait.
  let queue = UseCaseQueue(.keepLatest)

  func main(_ line: String) async throws {
    try file.write(line)
  }
}
