import UseCaseHistory

extension UndoPool {
  private static let left = 160
  private static let top = 44
  private static let rowHeight = 34
  private static let width = 690

  /// The picture of it: a row for each thing that was asked, with the cursor between the applied
  /// entries and the undone ones.
  var svg: String {
    let bottom = Self.top + rows.count * Self.rowHeight
    var svg = SVG(
      width: Self.width, height: bottom + 76, title: "\(Self.title). \(Self.sentence)")
    svg.text(Self.title, 14, 24, "code")
    svg.text(Self.sentence, 14 + 8 * Self.title.count + 14, 24, "faint")
    for (index, row) in rows.enumerated() {
      Self.draw(row, in: &svg, Self.top + index * Self.rowHeight + Self.rowHeight / 2)
    }
    svg.line(14, bottom + 6, Self.width - 14, bottom + 6, "rule")
    Self.drawLegend(in: &svg, bottom + 23)
    return svg.source
  }

  private static func draw(_ row: Row, in svg: inout SVG, _ y: Int) {
    svg.mark(row.hasFailed ? .failed : .succeeded, 24, y)
    svg.text(row.asked, 40, y + 4)
    var x = left
    for entry in row.entries where entry.isApplied { draw(entry, in: &svg, &x, y) }
    drawCursor(in: &svg, x, y)
    x += 12
    for entry in row.entries where !entry.isApplied { draw(entry, in: &svg, &x, y) }
    for title in row.truncated {
      svg.box(x, y - 11, 30, 22, "gone")
      svg.text(title, x + 15, y + 4, "dropped")
      x += 38
    }
    svg.text(row.note, x + 8, y + 4, "faint")
  }

  private static func draw(_ entry: HistoryEntry, in svg: inout SVG, _ x: inout Int, _ y: Int) {
    let style = entry.isApplied ? "applied" : "undone"
    if entry.children.isEmpty {
      svg.box(x, y - 11, 30, 22, style)
      svg.text(entry.title, x + 15, y + 4, "centred")
      x += 38
    } else {
      let width = entry.children.count * 38 + 6
      svg.box(x, y - 15, width, 30, style)
      var inner = x + 7
      for part in entry.children { draw(part, in: &svg, &inner, y) }
      x += width + 8
    }
  }

  private static func drawCursor(in svg: inout SVG, _ x: Int, _ y: Int) {
    svg.line(x, y - 14, x, y + 14, "cursor")
    svg.path("M\(x - 4) \(y - 17)h8l-4 6z", "ink")
  }

  private static func drawLegend(in svg: inout SVG, _ y: Int) {
    func name(_ text: String, _ x: Int, _ y: Int) { svg.text(text, x, y + 4, "faint") }
    svg.box(44, y - 8, 22, 16, "applied")
    name("applied", 73, y)
    svg.box(140, y - 8, 22, 16, "undone")
    name("undone", 169, y)
    svg.box(236, y - 8, 22, 16, "gone")
    name("dropped for good", 265, y)
    svg.legend([.succeeded, .failed], 412, y)
    drawCursor(in: &svg, 55, y + 32)
    name("the cursor: undo to the left, redo to the right", 73, y + 32)
  }
}

extension UndoPool {
  /// The same as the picture, for a terminal or a failed test.
  var text: String {
    let rows = rows.map { row in
      let applied = row.entries.filter(\.isApplied).map(\.text)
      let undone = row.entries.filter { !$0.isApplied }.map(\.text)
      let entries = (applied + ["|"] + undone + row.truncated.map { "-\($0)-" })
        .joined(separator: " ")
      let note = row.note.isEmpty ? "" : "   \(row.note)"
      return "\(row.hasFailed ? "#" : "+") \(row.asked.padded(to: 18))\(entries)\(note)"
    }
    return """
      \(Self.title)  \(Self.sentence)

      \(rows.joined(separator: "\n"))

      + succeeded   # failed   [A] applied   (A) undone   -A- dropped for good   | the cursor

      """
  }
}

extension UndoPool.Row {
  fileprivate var note: String {
    hasFailed ? "failed: nothing has changed" : truncated.isEmpty ? "" : "truncated"
  }
}

extension HistoryEntry {
  fileprivate var text: String {
    let content =
      children.isEmpty ? title : "\(title): " + children.map(\.title).joined(separator: " ")
    return isApplied ? "[\(content)]" : "(\(content))"
  }
}
