import Foundation

/// The cost of the library on each path, in times the same work done with bare tasks.
///
/// A bar is the median of the turns and its whisker reaches from the least to the most. Whatever
/// does the same work has a mark and a whisker below the bar. What is longer than the axis is
/// broken visibly, and its number tells how long it is.
struct Chart {
  private let common: [ChartPath]
  private let others: [ChartPath]
  /// How long a bare task of a burst takes, in nanoseconds.
  private let bareTask: Int
  private let language: ChartLanguage

  /// Reads the table of results.
  init(of markdown: String, in language: ChartLanguage) throws {
    let rows = MeasuredRow.all(in: markdown)
    common = try ChartPath.common(in: rows)
    others = try ChartPath.others(in: rows)
    bareTask = try MeasuredRow.bareTask(in: markdown)
    self.language = language
  }

  /// Draws a chart in every language from the results in a folder.
  static func write(to folder: URL) throws {
    let markdown = try String(contentsOf: folder.appending(path: "RESULTS.md"), encoding: .utf8)
    for language in ChartLanguage.allCases {
      let chart = try Chart(of: markdown, in: language)
      try Data(chart.text.utf8).write(to: folder.appending(path: language.fileName))
    }
  }

  private static let width = 480.0
  private static let left = 176.0
  private static let right = 406.0
  /// Where the axis ends. Next to nothing is longer.
  private static let most = 5.0
  private static let top = 112.0

  private static func x(_ ratio: Double) -> Double {
    left + min(ratio, most) / most * (right - left)
  }

  /// As SVG, in colours for a light and a dark background.
  var text: String {
    var y = Self.top
    let commonBars = common.flatMap { draw($0, &y) }
    let commonEnd = y - 16
    y += 18
    let heading = Self.word(language.text("Other paths", "Lo demás"), 10, y, "faint")
    y += 26
    let othersStart = y - 16
    let otherBars = others.flatMap { draw($0, &y) }
    let axis =
      Self.axis(from: Self.top - 16, to: commonEnd) + Self.axis(from: othersStart, to: y - 10)
    let lines = numbers + axis + commonBars + [heading] + otherBars + drawLegend(y + 20)
    let height = Int(y + 76)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" \
      width="\(Int(Self.width))" height="\(height)" \
      viewBox="0 0 \(Int(Self.width)) \(height)" role="img">
      <title>\(title)</title>
      <style>
      \(Self.style)
      </style>
      <rect x="0.5" y="0.5" width="\(Int(Self.width) - 1)" height="\(height - 1)" rx="6" \
      class="page"/>
      \(Self.word(title, 10, 26, "heading"))
      \(Self.word(subtitle, 10, 48))
      \(lines.joined(separator: "\n"))
      </svg>

      """
  }

  private var title: String {
    language.text("What UseCase costs", "Lo que cuesta UseCase")
  }

  private var subtitle: String {
    language.text(
      "Cost as a multiple of a bare task. Shorter is better.",
      "Coste en tareas a secas. Mejor cuanto más corto.")
  }

  private var numbers: [String] {
    let time = number(Double(bareTask) / 1_000) + " µs"
    let bare = language.text("a bare task, \(time)", "una tarea a secas, \(time)")
    return [Self.word(bare, Self.x(1), Self.top - 40, "faint centred")]
      + (0...Int(Self.most)).map { ratio in
        Self.word("\(ratio)×", Self.x(Double(ratio)), Self.top - 22, "centred")
      }
  }

  private static func axis(from top: Double, to bottom: Double) -> [String] {
    (0...Int(most)).map { ratio in
      let line = "M\(x(Double(ratio)).coordinate) \(top.coordinate)V\(bottom.coordinate)"
      return "<path d=\"\(line)\" class=\"\(ratio == 1 ? "one" : "grid")\"/>"
    }
  }

  private func draw(_ path: ChartPath, _ y: inout Double) -> [String] {
    let baseline = y + 5
    let (start, end) = (Self.x(0), Self.x(path.row.ratio))
    var lines = [
      Self.word(path.name[language] ?? "", 10, baseline),
      "<rect x=\"\(start.coordinate)\" y=\"\((y - 7).coordinate)\" "
        + "width=\"\((end - start).coordinate)\" height=\"14\" class=\"own\"/>",
    ]
    lines += Self.whisker(path.row, y, "onBar")
    if path.row.ratio > Self.most { lines.append(Self.gap(y)) }
    lines.append(Self.word(number(path.row.ratio) + "×", 470, baseline, "value"))
    y += 3
    for rival in path.rivals {
      y += 13
      lines += Self.whisker(rival.row, y, "whisker")
      lines.append(
        "<path d=\"\(rival.kind.shape(Self.x(rival.row.ratio).coordinate, y.coordinate))\" "
          + "class=\"rival\"/>")
    }
    y += 23
    return lines
  }

  /// One that goes beyond the axis ends in an arrow.
  private static func whisker(_ row: MeasuredRow, _ y: Double, _ style: String) -> [String] {
    let (start, end) = (x(row.range.lowerBound), x(row.range.upperBound))
    let isCut = row.range.upperBound > most
    let line = "M\(start.coordinate) \(y.coordinate)H\(end.coordinate)"
    let first = start < end ? "m0 0M\(start.coordinate) \((y - 4).coordinate)v8" : ""
    let last =
      isCut
      ? "M\((end + 1).coordinate) \((y - 4).coordinate)l6 4l-6 4"
      : "M\(end.coordinate) \((y - 4).coordinate)v8"
    return ["<path d=\"\(line)\(first)\(last)\" class=\"\(style)\"/>"]
  }

  /// A stripe through a bar that is longer than it is drawn.
  private static func gap(_ y: Double) -> String {
    let x = right - 24
    return "<path d=\"M\((x).coordinate) \((y + 9).coordinate)l6 -18m5 0l-6 18\" class=\"break\"/>"
      + "<path d=\"M\((x + 5).coordinate) \((y + 9).coordinate)l-5 0l6 -18l5 0z\" class=\"gap\"/>"
  }

  private func drawLegend(_ y: Double) -> [String] {
    let range = language.text("median, from least to most", "mediana, del mínimo al máximo")
    var lines = [
      "<rect x=\"10\" y=\"\((y - 7).coordinate)\" width=\"26\" height=\"14\" class=\"own\"/>",
      Self.word("UseCase", 44, y + 5),
      "<path d=\"M124 \(y.coordinate)h30M124 \((y - 4).coordinate)v8m30 -8v8\" class=\"whisker\"/>",
      Self.word(range, 162, y + 5),
    ]
    let places = [10.0, 106, 310]
    for (rival, x) in zip(ChartRival.allCases, places) {
      let shape = rival.shape((x + 6).coordinate, (y + 30).coordinate)
      lines.append("<path d=\"\(shape)\" class=\"rival\"/>")
      lines.append(Self.word(rival.title(in: language), x + 18, y + 35))
    }
    return lines
  }

  /// To a tenth.
  private func number(_ number: Double) -> String {
    let text = String(format: "%.1f", (number * 10).rounded() / 10)
    return language.text(text, text.replacing(".", with: ","))
  }

  private static func word(
    _ text: String, _ x: Double, _ y: Double, _ style: String = ""
  ) -> String {
    "<text x=\"\(x.coordinate)\" y=\"\(y.coordinate)\" class=\"\(style)\">\(text)</text>"
  }

  private static let style = """
    svg { --page: #ffffff; --ink: #1f2328; --faint: #59636e; --grid: #7d8590; --own: #bc4c00; }
    @media (prefers-color-scheme: dark) {
      svg { --page: #0d1117; --ink: #f0f6fc; --faint: #9ea7b3; --grid: #7d8590; --own: #d4632a; }
    }
    text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
    .heading { font-size: 16px; font-weight: 600; }
    .faint { fill: var(--faint); }
    .centred { text-anchor: middle; }
    .value { text-anchor: end; font-weight: 600; }
    .page { fill: var(--page); stroke: var(--grid); }
    .grid { stroke: var(--grid); stroke-dasharray: 1 3; }
    .one { stroke: var(--ink); stroke-width: 1.5; }
    .own { fill: var(--own); }
    .whisker, .onBar { fill: none; stroke: var(--ink); stroke-width: 1.5; }
    .rival { fill: var(--page); stroke: var(--ink); stroke-width: 1.5; }
    .break { fill: none; stroke: var(--ink); stroke-width: 1.5; }
    .gap { fill: var(--page); }
    """
}

extension Double {
  /// To a tenth, as pictures need it.
  fileprivate var coordinate: String {
    self == rounded() ? "\(Int(self))" : String(format: "%.1f", self)
  }
}
