import UseCaseHistory

extension UndoPool {
  private static let margin = 10.0
  private static let left = 168.0
  private static let top = 62.0
  private static let rowHeight = 42.0

  private static func width(of title: String) -> Double { title.width + 12 }

  /// The picture of it: a row for each thing that was asked, with the cursor between the applied
  /// entries and the undone ones.
  func svg(in language: Language) -> String {
    let bottom = Self.top + Double(rows.count) * Self.rowHeight
    var svg = SVG(title: "\(title). \(sentence[language])")
    svg.text(title, Self.margin, 26, "heading code")
    svg.text(sentence[language], Self.margin, 48)
    draw(rows, in: &svg, from: Self.top, language)
    svg.line(Self.margin, bottom + 6, SVG.width - Self.margin, bottom + 6, "rule")
    drawLegend(in: &svg, bottom + 26, language)
    return svg.source(height: bottom + 84)
  }

  /// The rows alone.
  var card: String {
    var svg = SVG(title: title)
    let height = Double(rows.count) * Self.rowHeight
    draw(rows, in: &svg, from: (SVG.cardHeight - height) / 2, .english)
    return svg.source(height: SVG.cardHeight)
  }

  private func draw(
    _ rows: [Row], in svg: inout SVG, from top: Double, _ language: Language
  ) {
    for (index, row) in rows.enumerated() {
      draw(row, in: &svg, top + (Double(index) + 0.5) * Self.rowHeight, language)
    }
  }

  private func draw(_ row: Row, in svg: inout SVG, _ y: Double, _ language: Language) {
    svg.mark(row.hasFailed ? .failed : .succeeded, 20, y)
    let note = row.note[language]
    svg.text(row.asked[language], 36, y + (note.isEmpty ? 5 : -3))
    Self.draw(row.entries, in: &svg, Self.left, y, language)
    if !note.isEmpty { svg.text(note, 36, y + 14, "faint") }
  }

  /// Draws the cursor between the applied entries and the undone ones, and returns where it ends.
  @discardableResult
  static func draw(
    _ entries: [HistoryEntry], in svg: inout SVG, _ left: Double, _ y: Double,
    _ language: Language = .english
  ) -> Double {
    var x = left
    for entry in entries where entry.isApplied { draw(entry, in: &svg, &x, y, language) }
    svg.cursor(x, y)
    x += 10
    for entry in entries where !entry.isApplied { draw(entry, in: &svg, &x, y, language) }
    return x
  }

  private static func draw(
    _ entry: HistoryEntry, in svg: inout SVG, _ x: inout Double, _ y: Double, _ language: Language
  ) {
    let style = entry.isApplied ? "applied" : "undone"
    if entry.children.isEmpty {
      let title = word(entry.title)[language]
      svg.box(x, y - 11, width(of: title), 22, style)
      svg.text(title, x + width(of: title) / 2, y + 5, "centred")
      x += width(of: title) + 8
    } else {
      let widths = entry.children.map { Self.width(of: word($0.title)[language]) + 8 }
      let whole = widths.reduce(6, +)
      svg.box(x, y - 15, whole, 30, style)
      var inner = x + 7
      for part in entry.children { draw(part, in: &svg, &inner, y, language) }
      x += whole + 8
    }
  }

  private func drawLegend(in svg: inout SVG, _ y: Double, _ language: Language) {
    svg.box(Self.margin, y - 9, 26, 18, "applied")
    svg.text(Self.applied[language], 44, y + 5, "faint")
    svg.box(230, y - 9, 26, 18, "undone")
    svg.text(Self.undone[language], 264, y + 5, "faint")
    svg.cursor(23, y + 32)
    svg.text(cursor[language], 44, y + 37, "faint")
  }
}
