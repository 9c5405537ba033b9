import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A picture as a reader's software sees it: the elements of the file.
final class Picture: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let attributes: [String: String]
    var content = ""

    var styles: [Substring] { (attributes["class"] ?? "").split(separator: " ") }
    func has(_ style: Substring) -> Bool { styles.contains(style) }
    func number(_ name: String) -> Double { attributes[name].flatMap { Double($0) } ?? 0 }

    /// The numbers of a path, as they are written.
    var path: [Double] {
      (attributes["d"] ?? "").split { !"-.0123456789".contains($0) }.compactMap { Double($0) }
    }

    /// How far the words reach, at most.
    var extent: ClosedRange<Double> {
      let width = Double(content.count) * (has("heading") ? 9.7 : 8.45)
      let x = number("x")
      if has("ending") || has("value") { return (x - width)...x }
      return has("centred") ? (x - width / 2)...(x + width / 2) : x...(x + width)
    }
  }

  private(set) var elements: [Element] = []
  private(set) var isWellFormed = false
  private var open: [Int] = []

  init(_ source: String) {
    super.init()
    let parser = XMLParser(data: Data(source.utf8))
    parser.delegate = self
    isWellFormed = parser.parse()
  }

  var texts: [Element] { elements.filter { $0.name == "text" } }
  var style: String { elements.first { $0.name == "style" }?.content ?? "" }
  var width: Double { elements.first?.number("width") ?? 0 }
  func all(_ style: Substring) -> [Element] { elements.filter { $0.has(style) } }

  /// The size of the smallest words, in pixels.
  var smallestWord: Int {
    style.matches(of: #/(\d+)px/#).compactMap { Int($0.output.1) }.min() ?? 0
  }

  /// The words that overlap the ones before them, or leave the picture.
  var crowdedWords: [String] {
    var ends: [Double: Double] = [:]
    // Of the words that pass, one stands in the picture at a time.
    return texts.filter { !$0.has("passing") }.sorted {
      $0.extent.lowerBound < $1.extent.lowerBound
    }.filter { text in
      let row = text.number("y")
      let isCrowded =
        text.extent.lowerBound < ends[row, default: 0] || text.extent.upperBound > width
      ends[row] = text.extent.upperBound
      return isCrowded
    }.map(\.content)
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    open.append(elements.count)
    elements.append(Element(name: name, attributes: attributes))
  }

  func parser(_ parser: XMLParser, foundCharacters characters: String) {
    for index in open { elements[index].content += characters }
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }
}

extension URL {
  /// The root of the repository.
  static let repository = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized
}
