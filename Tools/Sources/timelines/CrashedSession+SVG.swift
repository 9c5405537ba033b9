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
    let bottom = Self.top + Double(rows.count) * Self.rowHeight
    var svg = SVG(title: "\(Self.title). \(Self.sentence[language])")
    svg.text(Self.title, Self.margin, 26, "heading code")
    svg.text(Self.sentence[language], Self.margin, 48)
    draw(rows[...], in: &svg, from: Self.top, language)
    svg.line(Self.margin, bottom + 6, SVG.width - Self.margin, bottom + 6, "exclamation")
    svg.mark(.failed, 20, bottom + 24)
    svg.text(Self.crash[language], 36, bottom + 29)
    svg.line(Self.margin, bottom + 42, SVG.width - Self.margin, bottom + 42, "rule")
    let end = drawLegend(in: &svg, bottom + 34, language)
    return svg.source(height: end + 26)
  }

  /// The first rows, as many as a card holds.
  var card: String {
    var svg = SVG(title: Self.title)
    draw(rows.prefix(6), in: &svg, from: 46, .english)
    return svg.source(height: SVG.cardHeight)
  }

  private func draw(
    _ rows: ArraySlice<Row>, in svg: inout SVG, from top: Double, _ language: Language
  ) {
    svg.text(Self.records[language], Self.margin, top - 12, "faint")
    svg.text(Self.openings[language], Self.left, top - 12, "faint")
    for (index, row) in rows.enumerated() {
      let y = top + (Double(index) + 0.5) * Self.rowHeight
      draw(row.record, isTorn: index == self.rows.count - 1, in: &svg, y, language)
      draw(row, in: &svg, y)
    }
  }

  /// Returns where the last line of it is.
  private func drawLegend(in svg: inout SVG, _ top: Double, _ language: Language) -> Double {
    var y = top
    for (title, fate) in fates {
      y += 30
      var x = Self.margin
      draw(title, fate, in: &svg, &x, y)
      svg.text(fate.text[language], 50, y + 5, "faint")
    }
    y += 34
    svg.cursor(Self.margin + Self.entryWidth / 2, y)
    svg.text(UndoPool.cursor[language], 50, y + 5, "faint")
    return y
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

  private func draw(_ row: Row, in svg: inout SVG, _ y: Double) {
    var x = Self.left
    for entry in row.entries where entry.isApplied {
      draw(entry.title, entry.fate, in: &svg, &x, y)
    }
    svg.cursor(x, y)
    x += 10
    for entry in row.entries where !entry.isApplied {
      draw(entry.title, entry.fate, in: &svg, &x, y)
    }
    for title in row.takenBack { draw(title, .takenBack, in: &svg, &x, y) }
  }

  private func draw(
    _ title: String, _ fate: Fate, in svg: inout SVG, _ x: inout Double, _ y: Double
  ) {
    let text = fate == .inDoubt ? title + "?" : title
    if let style = fate.style { svg.box(x, y - 11, Self.entryWidth, 22, style) }
    svg.text(text, x + Self.entryWidth / 2, y + 5, "centred")
    if fate == .takenBack { svg.line(x + 7, y + 9, x + Self.entryWidth - 7, y - 9, "cursor") }
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
