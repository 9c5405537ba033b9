import Foundation
import Testing

/// The articles “Guarantees” have the rules, each with a name, and the articles “Tests of the
/// guarantees” have, under the same headings and names, the tests of each. They exist.
struct GuaranteesTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let catalogs = ["UseCase", "UseCaseHistory"].map { module in
    "Sources/\(module)/\(module).docc/Articles"
  }

  @Test(arguments: catalogs)
  func `every rule names a test that exists`(catalog: String) throws {
    let known = try Self.tests()
    let rules = Self.rules(in: try Self.text("\(catalog)/TestsOfTheGuarantees.md"))
    #expect(rules.count > 40)
    for (rule, item) in rules {
      let named = item.components(separatedBy: "`").filter { $0.contains("Tests/") }
      #expect(!named.isEmpty, "no test is named: \(rule)")
      #expect(named.filter { !known.contains($0) }.isEmpty, "no such test")
    }
  }

  @Test(arguments: catalogs)
  func `rules and tests have the same names, in the same order`(catalog: String) throws {
    let rules = Self.rules(in: try Self.text("\(catalog)/Guarantees.md")).map(\.name)
    let tests = Self.rules(in: try Self.text("\(catalog)/TestsOfTheGuarantees.md")).map(\.name)
    #expect(rules.difference(from: tests).isEmpty)
    #expect(Set(rules).count == rules.count, "two rules of one name under one heading")
  }

  @Test func `a test is known by its suite and its name, and nothing else is`() throws {
    let known = try Self.tests()
    #expect(known.contains("GuaranteesTests/every rule names a test that exists"))
    #expect(!known.contains("PagesTests/every rule names a test that exists"))
    #expect(!known.contains("GuaranteesTests/every rule"))
    #expect(Self.tests(in: "struct ATests {\n  // @Test\n  func `b`() {}\n}").isEmpty)
  }

  /// The items of the lists, each with its heading and its name in bold: “Heading: Name”.
  private static func rules(in text: String) -> [(name: String, item: String)] {
    text.components(separatedBy: "\n### ").dropFirst().flatMap { section in
      let items = section.components(separatedBy: "\n- ")
      let heading = items[0].trimmingCharacters(in: .newlines)
      return items.dropFirst().map { item in
        let name = item.firstMatch(of: /^\*\*(.+?)\.?\*\*/)?.1 ?? "no name in bold"
        return ("\(heading): \(name)", item)
      }
    }
  }

  private static func tests() throws -> Set<String> {
    let folder = root.appending(path: "Tests")
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return try Set(
      (files ?? []).filter { $0.hasSuffix("Tests.swift") }
        .flatMap { tests(in: try text("Tests/\($0)")) })
  }

  /// The tests of a file, as “Suite/name”: functions marked `@Test`, each in the type before it.
  private static func tests(in source: String) -> [String] {
    var (suite, isMarked, tests) = ("", false, [String]())
    for line in source.components(separatedBy: "\n") {
      let words = line.split(separator: " ")
      if line.hasPrefix("struct "), words.count > 1 { suite = String(words[1]) }
      if words.first?.hasPrefix("@Test") ?? false { isMarked = true }
      guard let name = line.firstMatch(of: /func `(.+?)`\(/)?.1 else { continue }
      if isMarked { tests.append("\(suite)/\(name)") }
      isMarked = false
    }
    return tests
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
