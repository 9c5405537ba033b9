import Foundation
import TestSupport
import Testing

struct ReadmeTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: ["README.md", "README.es.md"])
  func `every Swift block of a README stands in a file that compiles`(page: String) throws {
    let code = try lines("Tests/UseCaseHistoryTests/ReadmeCode.swift").joined(separator: "\n")
    let blocks = try swiftBlocks(of: page)
    #expect(blocks.count >= 6)
    for block in blocks {
      #expect(code.contains(block), "not compiled: \(block)")
    }
  }

  @Test func `both READMEs have the same code and as many headings`() throws {
    #expect(try swiftBlocks(of: "README.md") == swiftBlocks(of: "README.es.md"))
    let headings = try ["README.md", "README.es.md"].map { page in
      try lines(page).count { $0.hasPrefix("#") }
    }
    #expect(headings[0] == headings[1])
  }

  @Test func `code begins before line 20`() throws {
    let first = try #require(try lines("README.md").firstIndex(of: "```swift"))
    #expect(first < 20)
  }

  /// The blocks without indentation, blank lines and imports, which stand elsewhere in a file.
  private func swiftBlocks(of page: String) throws -> [String] {
    try lines(page).joined(separator: "\n").components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "\n```")[0] }
  }

  private func lines(_ path: String) throws -> [String] {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: true)
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
  }
}
