import Foundation

/// A bar for each contestant of the scenarios in which all take part.
struct Chart {
  private let groups: [(name: String, bars: [(name: String, ratio: Double, kind: String)])]

  init(_ results: [Samples]) {
    groups = results.filter { $0.scenario.isInChart }.map { samples in
      let bars = samples.scenario.contestants.enumerated().map { index, contestant in
        let kind = contestant.isBare ? "bare" : contestant.name == "UseCase" ? "own" : "other"
        return (contestant.name, samples.ratio(of: index).median, kind)
      }
      return (samples.scenario.name, bars)
    }
  }

  private static let left = 190.0
  private static let width = 760.0
  /// Longer bars are cut, or one of them would leave no room for the others.
  private static let most = 8.0

  /// As SVG, in colours for a light and a dark background.
  var text: String {
    let scale = (Self.width - Self.left - 60) / Self.most
    var lines: [String] = []
    var y = 34.0
    for group in groups {
      lines.append("<text x=\"0\" y=\"\(y)\" class=\"title\">\(group.name)</text>")
      y += 8
      for bar in group.bars {
        let length = min(bar.ratio, Self.most) * scale
        lines.append(
          "<text x=\"\(Self.left - 8)\" y=\"\(y + 11)\" class=\"name\">\(bar.name)</text>"
            + "<rect x=\"\(Self.left)\" y=\"\(y)\" width=\"\(length.short)\" height=\"13\" rx=\"2\""
            + " class=\"\(bar.kind)\"/>"
            + "<text x=\"\((Self.left + length + 6).short)\" y=\"\(y + 11)\">"
            + "\(bar.ratio.short)</text>")
        y += 17
      }
      y += 26
    }
    let one = (Self.left + scale).short
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(y))" role="img">
      <title>Times the cost of a bare task</title>
      <style>
      text { font: 12px system-ui, sans-serif; fill: #1f2328 }
      .title { font-weight: 600 } .name { text-anchor: end }
      .bare { fill: #8c959f } .own { fill: #e8590c } .other { fill: #74a8dc }
      line { stroke: #8c959f; stroke-dasharray: 3 3 }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .other { fill: #3d6b9e } }
      </style>
      <text x="0" y="12">Time for one operation, in times the bare task. Less is better; bars end at \(Int(Self.most)).</text>
      <line x1="\(one)" y1="20" x2="\(one)" y2="\(Int(y - 20))"/>
      \(lines.joined(separator: "\n"))
      </svg>

      """
  }
}

extension Scenario {
  fileprivate var isInChart: Bool { contestants.contains { $0.name == "2017 design" } }
}
