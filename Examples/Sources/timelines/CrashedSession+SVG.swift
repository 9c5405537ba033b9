import UseCaseHistory

extension CrashedSession {
  private static let margin = 10.0
  private static let recordWidth = 216.0
  private static let left = 246.0
  private static let top = 92.0
  private static let rowHeight = 33.0
  private static let entryWidth = 28.0

  /// The picture of it: the records below each other, beside each what it leaves, and at the end
  /// the fate of all that was done.
  func svg(in language: Language) -> String {
    let crash = Self.top + Double(rows.count) * Self.rowHeight + 16
    var svg = SVG(title: "\(Self.title). \(Self.sentence[language])")
    svg.text(Self.title, Self.margin, 26, "heading code")
    svg.text(Self.sentence[language], Self.margin, 48)
    svg.text(Self.records[language], Self.margin, 80, "faint")
    svg.text(Self.openings[language], Self.left, 80, "faint")
    for (index, row) in rows.enumerated() {
      let y = Self.top + (Double(index) + 0.5) * Self.rowHeight
      draw(row.record, isTorn: index == rows.count - 1, in: &svg, y, language)
      draw(row, in: &svg, y, language)
    }
    svg.mark(.failed, 20, crash)
    svg.text(Self.crash[language], 36, crash + 5)
    svg.line(46 + Self.crash[language].width, crash, SVG.width - Self.margin, crash, "exclamation")
    var y = crash
    for (title, fate) in fates {
      y += 30
      var x = Self.margin
      draw(title, fate, in: &svg, &x, y)
      svg.text(fate.text[language], 50, y + 5)
    }
    return svg.source(height: y + 26)
  }

  private func draw(
    _ record: Record, isTorn: Bool, in svg: inout SVG, _ y: Double, _ language: Language
  ) {
    let (x, top, width) = (Self.margin, y - 13, Self.recordWidth)
    if isTorn {
      let edge = "l-6 5l6 5l-8 6l7 5l-7 5"
      svg.path("M\(x.short) \(top.short)h\((width - 50).short)\(edge)H\(x.short)z", "failed")
    } else {
      svg.box(x, top, width, 26, record.isIntent ? "waiting" : "shown")
    }
    svg.text(record.text[language], x + 10, y + 5)
  }

  private func draw(_ row: Row, in svg: inout SVG, _ y: Double, _ language: Language) {
    var x = Self.left
    for entry in row.entries where entry.isApplied {
      draw(entry.title, entry.fate, in: &svg, &x, y)
    }
    svg.cursor(x, y)
    x += 10
    for entry in row.entries where !entry.isApplied {
      draw(entry.title, entry.fate, in: &svg, &x, y)
    }
    svg.text(row.note[language], x + 4, y + 5, "faint")
  }

  private func draw(
    _ title: String, _ fate: Fate, in svg: inout SVG, _ x: inout Double, _ y: Double
  ) {
    let text = fate == .inDoubt ? title + "?" : title
    if let style = fate.style { svg.box(x, y - 11, Self.entryWidth, 22, style) }
    svg.text(text, x + Self.entryWidth / 2, y + 5, "centred")
    if fate == .takenBack { svg.line(x + 4, y, x + Self.entryWidth - 4, y, "rule") }
    x += Self.entryWidth + 8
  }
}

extension CrashedSession.Fate {
  /// Nil if it is not in the history any more.
  fileprivate var style: String? {
    switch self {
    case .applied: "applied"
    case .undone: "undone"
    case .inDoubt: "cancelled"
    case .takenBack: nil
    }
  }
}
