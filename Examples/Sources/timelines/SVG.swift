import UseCase

/// A picture that grows by one element at a time, in colours for light and for dark.
struct SVG {
  private let width: Int
  private let height: Int
  private let title: String
  private var elements: [String] = []

  init(width: Int, height: Int, title: String) {
    self.width = width
    self.height = height
    self.title = title
  }

  mutating func text(_ text: String, _ x: Int, _ y: Int, _ style: String = "") {
    elements.append("<text x=\"\(x)\" y=\"\(y)\" class=\"\(style)\">\(Self.escaped(text))</text>")
  }

  mutating func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int, _ style: String) {
    path("M\(x1) \(y1)L\(x2) \(y2)", style)
  }

  mutating func box(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ style: String) {
    elements.append(
      "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" rx=\"3\" "
        + "class=\"\(style)\"/>")
  }

  mutating func path(_ path: String, _ style: String) {
    elements.append("<path d=\"\(path)\" class=\"\(style)\"/>")
  }

  /// A shape for each, so that nobody needs the colours: a check in a disc, a cross in a square; a
  /// bar through a ring, an arrow to the next in a diamond, an arrow down.
  mutating func mark(_ mark: Timeline.Lane.Mark, _ x: Int, _ y: Int) {
    switch mark {
    case .succeeded:
      elements.append("<circle cx=\"\(x)\" cy=\"\(y)\" r=\"7\" class=\"succeeded\"/>")
      path("M\(x - 3) \(y)l2 3l4 -6", "sign")
    case .failed:
      box(x - 7, y - 7, 14, 14, "failed")
      path("M\(x - 3) \(y - 3)l6 6m0 -6l-6 6", "sign")
    case .cancelled(.superseded):
      path("M\(x) \(y - 8)l8 8l-8 8l-8 -8z", "cancelled")
      path("M\(x - 2) \(y - 3)l3 3l-3 3", "stroke")
    case .cancelled(.dropped):
      path("M\(x - 3) \(y - 7)h6v6h5l-8 8l-8 -8h5z", "cancelled")
    case .cancelled(.requested), .cancelled(.scopeEnded), .cancelled(.thrown):
      elements.append("<circle cx=\"\(x)\" cy=\"\(y)\" r=\"6\" class=\"cancelled\"/>")
      path("M\(x - 4) \(y + 4)l8 -8", "stroke")
    }
  }

  /// What the marks mean, in a row. A letter takes 7 pixels at most, on average.
  mutating func legend(_ marks: [Timeline.Lane.Mark], _ x: Int, _ y: Int) {
    var x = x
    for mark in marks {
      self.mark(mark, x, y)
      text(mark.meaning, x + 14, y + 4, "faint")
      x += 14 + 7 * mark.meaning.count + 28
    }
  }

  var source: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
    viewBox="0 0 \(width) \(height)" role="img">
    <title>\(Self.escaped(title))</title>
    <style>
    \(Self.style)
    </style>
    <defs><pattern id="hatching" width="5" height="5" patternUnits="userSpaceOnUse" \
    patternTransform="rotate(45)"><path d="M0 0V5" class="hatch"/></pattern></defs>
    <rect x="0.5" y="0.5" width="\(width - 1)" height="\(height - 1)" rx="6" class="page"/>
    \(elements.joined(separator: "\n"))
    </svg>

    """
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  private static let style = """
    svg { --page: #ffffff; --edge: #d1d9e0; --ink: #1f2328; --faint: #59636e;
      --blue: #0969da; --green: #1a7f37; --red: #cf222e; --orange: #bc4c00; }
    @media (prefers-color-scheme: dark) {
      svg { --page: #0d1117; --edge: #3d444d; --ink: #f0f6fc; --faint: #9198a1;
        --blue: #4493f8; --green: #3fb950; --red: #f85149; --orange: #f0883e; }
    }
    text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
    .code { font: 600 13px ui-monospace, Menlo, Consolas, monospace; }
    .faint { fill: var(--faint); stroke: var(--page); stroke-width: 4; paint-order: stroke; }
    .centred { text-anchor: middle; }
    .dropped { fill: var(--faint); text-anchor: middle; text-decoration: line-through; }
    .page { fill: var(--page); stroke: var(--edge); }
    .rule { stroke: var(--edge); }
    .band { fill: var(--faint); opacity: 0.15; }
    .ink { fill: var(--ink); }
    .waiting { stroke: var(--faint); stroke-width: 2; stroke-dasharray: 2 3; }
    .running { fill: var(--blue); }
    .unwinding { fill: url(#hatching); stroke: var(--orange); }
    .hatch { stroke: var(--orange); stroke-width: 2; }
    .succeeded { fill: var(--green); stroke: var(--page); }
    .failed { fill: var(--red); stroke: var(--page); }
    .cancelled { fill: var(--page); stroke: var(--orange); stroke-width: 2; }
    .stroke { fill: none; stroke: var(--orange); stroke-width: 2; }
    .sign { fill: none; stroke: var(--page); stroke-width: 2; }
    .call { fill: var(--orange); }
    .applied { fill: var(--page); stroke: var(--blue); stroke-width: 2; }
    .undone { fill: none; stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 4 3; }
    .gone { fill: none; stroke: var(--edge); }
    .cursor { stroke: var(--ink); stroke-width: 2; }
    """
}
