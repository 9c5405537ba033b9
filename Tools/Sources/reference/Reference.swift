import Foundation

/// Writes the reference of a module for a code host: every public declaration, its signature and its
/// first sentence, in the topic groups of the documentation.
///
/// `.ci/pages` compiles this file alone, and runs it with the name of the module, its catalog, and
/// its symbol graphs.
@main
struct Reference {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 3 else { fatalError("usage: reference MODULE CATALOG GRAPH…") }
    let (module, catalog) = (arguments[1], URL(filePath: arguments[2]))
    let graphs = try arguments.dropFirst(2).map { path in
      try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(filePath: path)))
    }
    let topics = try Topics(module: module, catalog: catalog)
    print(Page(module: module, symbols: graphs.flatMap(\.symbols), topics: topics).text)
  }
}

/// What a symbol graph says of a module.
struct Graph: Decodable {
  let symbols: [Symbol]
}

struct Symbol: Decodable {
  struct Kind: Decodable {
    let identifier: String
  }

  struct Fragment: Decodable {
    let spelling: String
  }

  struct Comment: Decodable {
    struct Line: Decodable {
      let text: String
    }

    let module: String?
    let lines: [Line]
  }

  let kind: Kind
  let pathComponents: [String]
  let declarationFragments: [Fragment]?
  let docComment: Comment?

  var name: String { pathComponents.last ?? "" }
  var parent: String { pathComponents.dropLast().joined(separator: ".") }
  var path: String { pathComponents.joined(separator: ".") }

  var isType: Bool {
    ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier)
  }

  /// The declaration, on one line.
  var signature: String {
    let text = (declarationFragments ?? []).map(\.spelling).joined()
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// The signature in lines that fit on a page.
  var declaration: String {
    let parts = signature.split(separator: " where ", maxSplits: 1)
    guard signature.count > 90, parts.count == 2 else { return signature }
    let constraints = parts[1].replacing(", ", with: ",\n  ")
    return parts[0] + "\nwhere\n  " + constraints
  }

  /// The sentence with which its comment begins, without the links of DocC.
  var sentence: String {
    let paragraph = (docComment?.lines ?? []).map(\.text)
      .prefix { !$0.trimmingCharacters(in: .whitespaces).isEmpty }.joined(separator: " ")
    let end = paragraph.firstRange(of: #/[.:](?= [A-Z`]|$)/#)?.upperBound ?? paragraph.endIndex
    var sentence = String(paragraph[..<end])
    if sentence.hasSuffix(":") { sentence = sentence.dropLast() + "." }
    return sentence.replacing(#/``([^`]+)``/#) { "`" + Topics.name(of: String($0.1)) + "`" }
  }
}

/// The groups of the pages of a catalog.
struct Topics {
  struct Group {
    let title: String
    var names: [String] = []
  }

  /// The groups of a page, by its symbol. That of the module has no name.
  private(set) var groups: [String: [Group]] = [:]

  init(module: String, catalog: URL) throws {
    let files = FileManager.default.enumerator(at: catalog, includingPropertiesForKeys: nil)
    let pages = (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
    for page in pages.sorted(by: { $0.path < $1.path }) {
      let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      guard let title = lines.first?.wholeMatch(of: #/# ``(.+)``/#)?.1 else { continue }
      let isModule = page.lastPathComponent == module + ".md" && !page.path.contains("Extensions")
      let path = title.split(separator: "/")
      // The type UseCase hides its module, which its link names.
      let inModule = path.count > 1 && path[0] == module ? path.dropFirst() : path[...]
      let key = isModule ? "" : inModule.joined(separator: ".")
      guard let start = lines.firstIndex(of: "## Topics") else { continue }
      for line in lines[start...] {
        if line.hasPrefix("### ") {
          groups[key, default: []].append(Group(title: String(line.dropFirst(4))))
        } else if let link = line.wholeMatch(of: #/- ``(.+)``/#)?.1,
          let last = groups[key]?.indices.last
        {
          groups[key]?[last].names.append(Self.name(of: String(link)))
        }
      }
    }
  }

  /// The last part of a link, without what tells overloads apart.
  static func name(of link: String) -> String {
    let last = link.replacing(#/-(\(.*|[a-z0-9]+|swift\.[a-z.]+)$/#, with: "")
    return String(last.split(separator: "/").last ?? "")
  }
}

/// The page of a module.
struct Page {
  let module: String
  let symbols: [Symbol]
  let topics: Topics

  var text: String {
    var parts = ["# Reference of \(module)"]
    parts.append(
      "Every public declaration of the module, its signature and its first sentence."
        + " The guides are on the [page of the module](README.md).")
    let types = symbols.filter(\.isType)
    var left = types.map(\.path)
    for group in topics.groups["", default: []] {
      let named = group.names.compactMap { name in types.first { $0.path == name } }
      guard !named.isEmpty else { continue }
      parts.append("## " + group.title)
      for type in named {
        for nested in types where nested.path == type.path || nested.isInside(type) {
          parts += section(of: nested)
          left.removeAll { $0 == nested.path }
        }
      }
    }
    let others = types.filter { left.contains($0.path) }
    if !others.isEmpty { parts.append("## Other types") }
    parts += others.flatMap(section)
    let foreign = Set(symbols.filter { !$0.isType }.map { $0.pathComponents[0] })
      .subtracting(types.map(\.path))
    for name in foreign.sorted() {
      let members = symbols.filter { $0.pathComponents[0] == name && $0.isDocumented(in: module) }
      guard !members.isEmpty else { continue }
      parts.append("## Extensions of \(name)")
      parts.append(members.map(item).joined(separator: "\n"))
    }
    return parts.joined(separator: "\n\n")
  }

  private func section(of type: Symbol) -> [String] {
    var parts = ["### " + type.path, "```swift\n\(type.declaration)\n```"]
    if !type.sentence.isEmpty { parts.append(type.sentence) }
    var members = symbols.filter { !$0.isType && $0.parent == type.path }
    for group in topics.groups[type.path, default: []] {
      let named = group.names.flatMap { name in members.filter { $0.name == name } }
      members.removeAll { group.names.contains($0.name) }
      guard !named.isEmpty else { continue }
      parts.append("**\(group.title)**")
      parts.append(unique(named).joined(separator: "\n"))
    }
    let rest = members.filter { $0.isDocumented(in: module) }
    if !rest.isEmpty { parts.append(unique(rest).joined(separator: "\n")) }
    return parts
  }

  /// An item for each signature. A requirement has that of its default.
  private func unique(_ members: [Symbol]) -> [String] {
    var seen: Set<String> = []
    return members.filter { seen.insert($0.signature).inserted }.map(item)
  }

  private func item(_ symbol: Symbol) -> String {
    let sentence = symbol.sentence
    let signature = "- `\(symbol.signature.replacing("`", with: ""))`"
    return sentence.isEmpty ? signature : signature + "  \n  \(sentence)"
  }
}

extension Symbol {
  fileprivate func isInside(_ type: Symbol) -> Bool { path.hasPrefix(type.path + ".") }

  fileprivate func isDocumented(in module: String) -> Bool {
    docComment.map { ($0.module ?? module) == module } ?? (kind.identifier == "swift.enum.case")
  }
}
