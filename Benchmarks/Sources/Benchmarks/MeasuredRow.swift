/// A row of a table in `RESULTS.md`, as far as a chart needs it.
struct MeasuredRow {
  let scenario: String
  let contestant: String

  /// How many times the bare work it costs: the median, then the least and the most.
  let ratio: Double
  let range: ClosedRange<Double>

  /// Reads the rows of the contestants that are compared with bare work.
  ///
  /// The chart is drawn from the tables and from nothing else, so that both say the same, and the
  /// chart of an earlier run can be drawn again.
  static func all(in markdown: String) -> [MeasuredRow] {
    var scenario = ""
    return markdown.split(separator: "\n").compactMap { line in
      if line.hasPrefix("### ") { scenario = String(line.dropFirst(4)) }
      guard line.hasPrefix("| ") else { return nil }
      let cells = line.split(separator: "|").map { cell in
        cell.split(separator: " ").joined(separator: " ")
      }
      guard cells.count >= 4 else { return nil }
      let ends = cells[2].split(separator: " – ").compactMap { Double($0) }
      guard let ratio = Double(cells[1]), ends.count == 2, ends[0] <= ends[1] else { return nil }
      return MeasuredRow(
        scenario: scenario, contestant: cells[0], ratio: ratio, range: ends[0]...ends[1])
    }
  }

  /// Reads how long a bare task of a burst takes, in nanoseconds.
  static func bareTask(in markdown: String) throws -> Int {
    let scenario = "burst: execute + then"
    let burst = markdown.split(separator: "### \(scenario)\n").last ?? ""
    guard let row = burst.firstMatch(of: #/\| bare Task +\| 1 +\| +\| +([0-9,]+) ns/#),
      let time = Int(row.output.1.replacing(",", with: ""))
    else { throw ChartPath.MissingRow(scenario: scenario, contestant: "bare Task") }
    return time
  }
}
