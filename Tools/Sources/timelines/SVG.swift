/// A picture that grows by one element at a time, in colours for light and for dark.
struct SVG {
  /// Wide enough for a page, and narrow enough for a phone to show words of 14 pixels.
  static let width = 480.0

  /// Narrow enough for two to stand side by side in the column of a code host.
  static let halfWidth = 410.0

  /// With the width as 16 to 9, which is the form of a card.
  static let cardHeight = 270.0

  /// The size of every word that is no heading.
  static let wordSize = 14

  /// More than a letter takes on average, in the widest of the fonts that a reader may have.
  static let letterWidth = 8.4

  private let width: Double
  private let title: String
  private var elements: [String] = []

  /// The styles that the elements have.
  private var styles: Set<Substring> = []

  /// The animation in which elements appear one after the other, if the picture is animated.
  private var animation: Animation?

  /// From when on the elements that follow are there.
  var moment: Int?

  /// From when to when they are there, if they pass: the still picture doesn't show them.
  var passing: Range<Int>?

  init(width: Double = Self.width, title: String, animation: Animation? = nil) {
    self.width = width
    self.title = title
    self.animation = animation
  }

  /// Writes a line. Words between backticks are code.
  mutating func text(_ text: String, _ x: Double, _ y: Double, _ style: String = "") {
    let runs = text.split(separator: "`", omittingEmptySubsequences: false)
    let spans = runs.enumerated().map { index, run in
      let escaped = Self.escaped(String(run))
      return index.isMultiple(of: 2) ? escaped : "<tspan class=\"code\">\(escaped)</tspan>"
    }
    element("text x=\"\(x.short)\" y=\"\(y.short)\"", style, content: spans.joined())
  }

  mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) {
    path("M\(x1.short) \(y1.short)L\(x2.short) \(y2.short)", style)
  }

  /// Draws a box, which grows from its left side to its right one in an animated picture.
  mutating func box(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String,
    over ticks: Range<Int>? = nil
  ) {
    let shape =
      "rect x=\"\(x.short)\" y=\"\(y.short)\" width=\"\(width.short)\""
      + " height=\"\(height.short)\" rx=\"3\""
    element(shape, style, over: ticks)
  }

  mutating func circle(_ x: Double, _ y: Double, _ radius: Double, _ style: String) {
    element("circle cx=\"\(x.short)\" cy=\"\(y.short)\" r=\"\(radius.short)\"", style)
  }

  mutating func path(_ path: String, _ style: String) {
    element("path d=\"\(path)\"", style)
  }

  private mutating func element(
    _ shape: String, _ style: String, over ticks: Range<Int>? = nil, content: String? = nil
  ) {
    let motion: String? =
      if let ticks {
        animation?.growing(over: ticks)
      } else if let passing {
        animation?.showing(during: passing)
      } else if let moment {
        animation?.appearing(at: moment)
      } else {
        nil
      }
    let names = ([style, passing == nil ? "" : "passing"] + [motion].compactMap(\.self)).filter {
      !$0.isEmpty
    }
    styles.formUnion(style.split(separator: " "))
    if passing != nil { styles.insert("passing") }
    let attribute = names.isEmpty ? "" : " class=\"\(names.joined(separator: " "))\""
    let name = shape.prefix { $0 != " " }
    let end = content.map { ">\($0)</\(name)>" } ?? "/>"
    elements.append("<\(shape)\(attribute)\(end)")
  }

  /// The whole file.
  func source(height: Double) -> String {
    let size = "width=\"\(width.short)\" height=\"\(height.short)\""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" \(size) \
      viewBox="0 0 \(width.short) \(height.short)" role="img">
      <title>\(Self.escaped(title.replacing("`", with: "")))</title>
      <style>
      \(Self.style)\(rareStyle)\(animation?.style ?? "")
      </style>
      <defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(45)"><path d="M1 0V6" class="hatch"/></pattern></defs>
      <rect x="0.5" y="0.5" width="\((width - 1).short)" height="\((height - 1).short)" rx="6" \
      class="page"/>
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  private static let style = """
    svg { \(Palette.light.variables) }
    @media (prefers-color-scheme: dark) {
      svg { \(Palette.dark.variables) }
    }
    text { font: \(wordSize)px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
    .code, .label, .inBar { font-family: ui-monospace, Menlo, Consolas, monospace; }
    .label, .inBar, .heading { font-weight: 600; }
    .key { letter-spacing: -0.04em; }
    .heading { font-size: 16px; }
    .faint { fill: var(--faint); }
    .inBar { fill: var(--page); }
    .ending { text-anchor: end; }
    .centred { text-anchor: middle; }
    .page { fill: var(--page); stroke: var(--rule); }
    .band { fill: var(--band); }
    .rule { stroke: var(--rule); }
    .guide { stroke: var(--rule); stroke-dasharray: 1 3; }
    .running { fill: var(--blue); }
    .waiting { fill: var(--page); stroke: var(--ink); stroke-dasharray: 5 3; }
    .pausing { fill: none; stroke: var(--ink); stroke-width: 2.5; stroke-linecap: round;
      stroke-dasharray: 0 6; }
    .unwinding { fill: url(#hatching); stroke: var(--orange); }
    .hatch { stroke: var(--orange); stroke-width: 1.5; }
    .arrow { fill: none; stroke: var(--orange); stroke-width: 1.5; }
    .head { fill: var(--orange); }
    .succeeded { fill: var(--page); stroke: var(--green); stroke-width: 1.5; }
    .check { fill: none; stroke: var(--green); stroke-width: 2; }
    .failed { fill: var(--page); stroke: var(--red); stroke-width: 1.5; stroke-linejoin: round; }
    .exclamation { stroke: var(--red); stroke-width: 2; }
    .cancelled { fill: var(--page); stroke: var(--orange); stroke-width: 1.5; }
    .stroke { fill: none; stroke: var(--orange); stroke-width: 2; }
    .stop { fill: var(--orange); }
    .last { fill: var(--ink); }
    .shown { fill: none; stroke: var(--ink); stroke-width: 1.5; }
    .applied { fill: var(--page); stroke: var(--blue); stroke-width: 2; }
    .undone { fill: none; stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 4 3; }
    .cursor { stroke: var(--ink); stroke-width: 2; }
    .ink { fill: var(--ink); }
    """

  /// The style of what only few pictures show.
  private static let rareStyles = [
    ("card", "fill: var(--page); stroke: var(--rule);"),
    ("lens", "fill: none; stroke: var(--faint); stroke-width: 2;"),
    ("typed", "font: 17px ui-monospace, Menlo, Consolas, monospace;"),
    ("stale", "fill: var(--red);"),
    ("liked", "fill: var(--red); stroke: var(--red); stroke-width: 2;"),
    ("notLiked", "fill: none; stroke: var(--faint); stroke-width: 2;"),
    ("fresh", "fill: var(--green);"),
    ("onColor", "fill: var(--page); font-weight: 600;"),
    ("wrong", "fill: var(--red); font-weight: 600;"),
    ("right", "fill: var(--green); font-weight: 600;"),
    ("passing", "visibility: hidden;"),
  ]

  private var rareStyle: String {
    Self.rareStyles.filter { styles.contains(Substring($0.0)) }
      .map { name, rule in "\n.\(name) { \(rule) }" }.joined()
  }
}

extension Double {
  /// To a tenth, which is what an eye sees.
  var short: String {
    let (whole, rest) = Int((self * 10).rounded()).quotientAndRemainder(dividingBy: 10)
    return rest == 0 ? "\(whole)" : "\(self < 0 && whole == 0 ? "-" : "")\(whole).\(abs(rest))"
  }
}

extension String {
  /// How wide it is at most when it is written.
  var width: Double { Double(count { $0 != "`" }) * SVG.letterWidth }
}
