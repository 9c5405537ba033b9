import Foundation
import Testing

/// The code in the READMEs, the articles and the comments of symbols compiles: each Swift block
/// stands in a file beside this one, or in an example that is a package of its own. Left out are code
/// of other libraries and manifests, which say so in their first line. `.ci/tutorial` compiles the
/// manifests.
struct PagesTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let pages: [String] =
    ["README.md", "README.es.md"] + paths(in: "Sources", "md") + paths(in: "Sources", "swift")

  private static let elsewhere = [
    "// Combine", "// Dispatch", "// RxSwift", "// The Composable Architecture",
    "// swift-tools-version: 6.3",
  ]

  @Test func `every Swift block of a page or a comment stands in a file that compiles`() throws {
    let files =
      Self.paths(in: "Tests/DocumentationTests", "swift")
      + Self.paths(in: "Examples/Contacts/Sources", "swift")
      + Self.paths(in: "Examples/Contacts/Tests", "swift")
      + Self.paths(in: "Examples/Outbox/Sources", "swift")
    let code = try files.map { try lines($0).joined(separator: "\n") }
    for page in Self.pages {
      for block in try swiftBlocks(of: page)
      where !Self.elsewhere.contains(where: { block.hasPrefix($0 + "\n") }) {
        #expect(code.contains { $0.contains(block) }, "not compiled, in \(page): \(block)")
      }
    }
  }

  @Test func `each file of the tutorial stands, at its end, in a file that compiles`() throws {
    let folder = "Sources/UseCase/UseCase.docc/Tutorials"
    let steps = try lines("\(folder)/SearchWithUndo.tutorial").joined(separator: "\n")
    // Of each name the last file, such as "Search.swift" and "Search-3.swift".
    let files = Dictionary(
      steps.matches(of: /@Code\(name: "(.+\.swift)", file: "(.+)"\)/).map { ($0.1, $0.2) },
      uniquingKeysWith: { $1 })
    #expect(files.count == 8)
    let code = try lines("Tests/DocumentationTests/TutorialTests.swift").joined(separator: "\n")
    for (name, file) in files where name != "Package.swift" {
      let text = try lines("\(folder)/Code/\(file)").joined(separator: "\n")
      #expect(code.contains(text), "not compiled: \(file)")
    }
  }

  @Test func `both READMEs have the same code and as many headings`() throws {
    #expect(try swiftBlocks(of: "README.md").count >= 4)
    #expect(try swiftBlocks(of: "README.md") == swiftBlocks(of: "README.es.md"))
    let headings = try ["README.md", "README.es.md"].map { page in
      try lines(page).count { $0.hasPrefix("#") }
    }
    #expect(headings[0] == headings[1])
  }

  @Test(arguments: [
    ("UseCase", "GettingStarted", "PrimerosPasos"),
    ("UseCase", "ChoosingAPolicy", "ElegirUnaPolitica"),
    ("UseCase", "Cancellation", "LaCancelacion"),
    ("UseCase", "WhyNotJustTask", "PorQueNoSoloTask"),
    ("UseCase", "SwiftUI", "VistasDeSwiftUI"),
    ("UseCase", "CompleteApp", "AppCompleta"),
    ("UseCase", "HandlingErrors", "GestionarErrores"),
    ("UseCaseHistory", "Views", "DeshacerEnUnaVista"),
  ])
  func `a translated page has the code of its original`(
    module: String, page: String, translation: String
  ) throws {
    let blocks = try [page, translation].map { name in
      try swiftBlocks(of: "Sources/\(module)/\(module).docc/Articles/\(name).md")
    }
    #expect(!blocks[0].isEmpty && blocks[0] == blocks[1])
  }

  @Test func `code begins before line 20`() throws {
    let first = try #require(try lines("README.md").firstIndex(of: "```swift"))
    #expect(first < 20)
  }

  /// A code host shows the pages as they are: it resolves no link of DocC, and no symbol.
  @Test func `every link and picture that a reader of a code host comes to is there`() throws {
    var pages = ["README.md", "README.es.md"]
    var links = 0
    var next = 0
    while next < pages.count {
      let page = pages[next]
      next += 1
      let folder = URL(filePath: page, relativeTo: Self.root).deletingLastPathComponent()
      let text = try Self.prose(of: page)
      #expect(!text.contains("doc:"), "a link of DocC, in \(page)")
      for target in Self.targets(in: text) where !target.contains(":") {
        links += 1
        let parts = target.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
        let file = parts[0].isEmpty ? page : Self.path(of: folder.appending(path: parts[0]))
        let url = Self.root.appending(path: file)
        #expect(FileManager.default.fileExists(atPath: url.path), "\(target), in \(page)")
        guard file.hasSuffix(".md") else { continue }
        if !pages.contains(file) { pages.append(file) }
        guard parts.count > 1 else { continue }
        let anchors = try Self.prose(of: file).components(separatedBy: "\n")
          .filter { $0.hasPrefix("#") }.map(Self.anchor)
        #expect(anchors.contains("#" + parts[1]), "\(target), in \(page)")
      }
    }
    #expect(links > 100)
    let written = Self.paths(in: "Documentation", "md")
    #expect(written.filter { !pages.contains($0) }.isEmpty, "no README leads there")
  }

  /// A page without its blocks of code.
  private static func prose(of page: String) throws -> String {
    let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
    let parts = text.components(separatedBy: "```").enumerated()
    return parts.filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
  }

  private static func targets(in text: String) -> [String] {
    let links = text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
    return links + text.matches(of: /(?:src|srcset|href)="([^"]+)"/).map { String($0.1) }
  }

  /// The path of a file, seen from the root.
  private static func path(of file: URL) -> String {
    String(file.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1))
  }

  /// The anchor that a code host gives to a heading.
  private static func anchor(of heading: String) -> String {
    let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
    return "#"
      + words.filter { $0.isLetter || $0.isNumber || "- ".contains($0) }
      .replacing(" ", with: "-")
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
      .map { path.hasPrefix("Sources") && $0.hasPrefix("///") ? String($0.dropFirst(3)) : $0 }
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && $0.wholeMatch(of: /(@testable )?import .*/) == nil }
  }

  private static func paths(in folder: String, _ suffix: String) -> [String] {
    let folderURL = root.appending(path: folder)
    let all = FileManager.default.enumerator(atPath: folderURL.path)?.compactMap { $0 as? String }
    return (all ?? []).filter { $0.hasSuffix("." + suffix) }.map { "\(folder)/\($0)" }.sorted()
  }
}
