import Foundation

/// The file in which the line is kept.
struct TextFile: Hashable, Sendable {
  let path: String

  private var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// The line in the file. There is none before it is saved for the first time.
  func read() throws(Failure) -> String {
    guard exists else { return "" }
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw Failure(message: "cannot read \(path)")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw Failure(message: "\(path): this is not UTF-8")
    }
    let scalars = text.unicodeScalars
    return scalars.last == "\n" ? String(scalars.dropLast()) : text
  }

  /// Puts the line into the file: all of it or, when that fails, nothing.
  func write(_ line: String) throws(Failure) {
    do {
      // To take the place of a file one needs no right to write to it: so ask.
      if exists, !FileManager.default.isWritableFile(atPath: path) {
        throw CocoaError(.fileWriteNoPermission)
      }
      let url = URL(filePath: path).resolvingSymlinksInPath()
      try Data((line + "\n").utf8).write(to: url, options: .atomic)
    } catch {
      throw Failure(message: "cannot write \(path)")
    }
  }
}
