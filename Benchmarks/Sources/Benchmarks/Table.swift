import Foundation

/// All results: a table for each scenario, with a row for each contestant.
struct Table {
  private let scenarios: [(name: String, rows: [[String]])]

  /// The targets that were missed, in sentences.
  let missed: [String]

  init(_ results: [Samples]) {
    scenarios = results.map { samples in
      let hasBare = samples.scenario.contestants.contains(where: \.isBare)
      let rows = samples.scenario.contestants.enumerated().map { index, contestant in
        let ratio = contestant.isBare || !hasBare ? nil : samples.ratio(of: index)
        return [
          contestant.name, ratio?.median.short ?? (contestant.isBare ? "1" : ""),
          ratio.map { "\($0.minimum.short) – \($0.maximum.short)" } ?? "",
          samples.scenario.unit.text(samples.cost(of: index).median),
          contestant.target?.verdict(on: index, in: samples).text ?? "",
        ]
      }
      return (samples.scenario.name, rows)
    }
    missed = results.flatMap { samples in
      samples.scenario.contestants.enumerated().compactMap { index, contestant in
        guard let target = contestant.target else { return nil }
        guard !target.verdict(on: index, in: samples).isMet else { return nil }
        return "**\(samples.scenario.name).** \(target.miss(of: index, in: samples))"
      }
    }
  }

  /// As Markdown.
  var text: String {
    scenarios.map { "### \($0.name)\n\n\(Self.table($0.rows))" }.joined(separator: "\n\n")
  }

  /// Returns the rows with a header, aligned for those who read the text. Without targets, there is
  /// no column for them.
  private static func table(_ rows: [[String]]) -> String {
    let all = [["contestant", "× bare", "from – to", "per operation", "target"]] + rows
    let hasTargets = rows.contains { !$0[4].isEmpty }
    let widths = (hasTargets ? 0..<5 : 0..<4).map { column in
      all.map(\.[column].count).max() ?? 0
    }
    func line(_ cells: [String]) -> String {
      let padded = zip(cells, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      return "| " + padded.joined(separator: " | ") + " |"
    }
    let rule = widths.enumerated().map { column, width in
      let dashes = String(repeating: "-", count: width - 1)
      return (1...3).contains(column) ? dashes + ":" : dashes + "-"
    }
    return ([all[0], rule] + rows).map(line).joined(separator: "\n")
  }
}

extension Target {
  /// Returns what it says, what was measured, and whether that is good enough.
  func verdict(on contestant: Int, in samples: Samples) -> (text: String, isMet: Bool) {
    switch self {
    case .atMost(let limit, let other):
      let ratio = samples.ratio(of: contestant, to: other).median
      return verdict("≤ \(limit.short) × \(other)", ratio.short, ratio <= limit)
    case .atLeast(let limit, let other):
      let ratio = samples.ratio(of: contestant, to: other).median
      return verdict("≥ \(limit.short) × \(other)", ratio.short, ratio >= limit)
    case .cost(let limit):
      let unit = samples.scenario.unit
      let cost = samples.cost(of: contestant).median
      return verdict("≤ \(unit.text(limit))", unit.text(cost), cost <= limit)
    }
  }

  /// Returns what was measured, and what the target is. If the other contestant is a rival, also
  /// returns the cost at which the target would be met, as a multiple of the bare work.
  func miss(of contestant: Int, in samples: Samples) -> String {
    let name = samples.scenario.contestants[contestant].name
    switch self {
    case .atMost(let limit, let other):
      let ratio = samples.ratio(of: contestant, to: other).median
      return "*\(name)* costs \(ratio.short) times as much as *\(other)*. "
        + "The target is at most \(limit.short)."
    case .atLeast(let limit, let other):
      let ratio = samples.ratio(of: contestant, to: other).median
      let most = samples.ratio(of: contestant).median / limit
      return "*\(name)* costs \(ratio.short) times as much as *\(other)*. "
        + "The target is at least \(limit.short). "
        + "To meet it, *\(other)* would have to cost at most \(most.short) × bare."
    case .cost(let limit):
      let unit = samples.scenario.unit
      return "*\(name)* costs \(unit.text(samples.cost(of: contestant).median)). "
        + "The target is at most \(unit.text(limit))."
    }
  }

  private func verdict(_ text: String, _ value: String, _ isMet: Bool) -> (String, Bool) {
    ("\(text): \(value), \(isMet ? "met" : "**missed**")", isMet)
  }
}

extension Unit {
  func text(_ value: Double) -> String {
    switch self {
    case .nanoseconds: "\(Int(value.rounded()).grouped) ns"
    case .bytes: "\(Int(value.rounded()).grouped) bytes"
    }
  }
}

extension Double {
  var short: String { String(format: "%.2f", self) }
}

extension Int {
  /// With a comma before each three digits, whatever the locale.
  var grouped: String {
    self < 1_000 ? "\(self)" : (self / 1_000).grouped + "," + String(format: "%03d", self % 1_000)
  }
}
