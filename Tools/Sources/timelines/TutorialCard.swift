import UseCaseHistory

/// The tutorial in a few shapes, which a reader can tell apart in a thumbnail.
struct TutorialCard {
  let search: Timeline
  let pool: UndoPool

  static let name = "card-tutorial"
  static let width = 200.0
  private static let margin = 12.0

  var svg: String {
    var svg = SVG(width: Self.width, title: "A search that supersedes another one, and an undo")
    let lanes = Lanes(
      timeline: search, language: .english, left: Self.margin,
      unit: (Self.width - 2 * Self.margin) / Double(search.end), top: 6, pitch: 30,
      hasNotes: false)
    lanes.draw(in: &svg)
    if let undone = pool.rows.first(where: { $0.entries.contains { !$0.isApplied } }) {
      UndoPool.draw(undone.entries, in: &svg, Self.margin, 90)
    }
    return svg.source(height: 112.5)
  }
}
