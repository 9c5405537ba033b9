import Foundation

/// All results, a row for each contestant.
struct Table {
  private static let header = [
    "scenario", "contestant", "× the first", "from – to", "per operation", "target",
  ]
  private let rows: [[String]]

  init(_ results: [Result]) {
    rows = results.flatMap { result in
      result.scenario.contestants.enumerated().map { index, contestant in
        let ratio = result.ratio(of: index, to: 0)
        return [
          index == 0 ? result.scenario.name : "", contestant.name, ratio.median.short,
          "\(ratio.minimum.short) – \(ratio.maximum.short)",
          result.scenario.unit.text(result.cost(of: index).median),
          contestant.target.map { $0.verdict(on: index, in: result) } ?? "",
        ]
      }
    }
  }

  /// As Markdown, aligned for those who read the text.
  var text: String {
    let widths = Self.header.indices.map { column in
      ([Self.header] + rows).map(\.[column].count).max() ?? 0
    }
    func line(_ cells: [String]) -> String {
      let padded = zip(cells, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      return "| " + padded.joined(separator: " | ") + " |"
    }
    let rule = widths.map { String(repeating: "-", count: $0) }
    return ([line(Self.header), line(rule)] + rows.map(line)).joined(separator: "\n")
  }
}

extension Target {
  /// Returns what it says, what was measured, and whether that is good enough.
  func verdict(on contestant: Int, in result: Result) -> String {
    switch self {
    case .atMost(let limit, let other):
      let ratio = result.ratio(of: contestant, to: other)
      return verdict("≤ \(limit.short) × \(other)", ratio.short, ratio <= limit)
    case .atLeast(let limit, let other):
      let ratio = result.ratio(of: contestant, to: other)
      return verdict("≥ \(limit.short) × \(other)", ratio.short, ratio >= limit)
    case .cost(let limit):
      let unit = result.scenario.unit
      let cost = result.cost(of: contestant).median
      return verdict("≤ \(unit.text(limit))", unit.text(cost), cost <= limit)
    }
  }

  private func verdict(_ text: String, _ value: String, _ isMet: Bool) -> String {
    "\(text): \(value), \(isMet ? "met" : "MISSED")"
  }
}

extension Result {
  func ratio(of contestant: Int, to other: String) -> Double {
    guard let index = scenario.contestants.firstIndex(where: { $0.name == other }) else {
      fatalError("\(scenario.name) has no contestant named \(other).")
    }
    return ratio(of: contestant, to: index).median
  }
}

extension Unit {
  func text(_ value: Double) -> String {
    switch self {
    case .nanoseconds: "\(Int(value.rounded())) ns"
    case .bytes: "\(Int(value.rounded())) bytes"
    }
  }
}

extension Double {
  var short: String { String(format: "%.2f", self) }
}
