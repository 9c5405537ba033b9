/// One row to type in: a label, a text, and the cursor in the text.
struct Field: Hashable, Sendable {
  let row: String

  /// The column of the cursor.
  let cursor: Int

  /// `before` and `behind` are the text on both sides of the cursor. Where there is little room,
  /// the label goes, and what is far from the cursor.
  init(_ label: String, _ before: String, _ behind: String = "", columns: Int) {
    let isWhole = (label + before + behind).cells < columns
    let label = isWhole || columns - label.cells >= 5 ? label : ""
    let room = columns - label.cells
    let roomBehind = max(1, min(behind.cells, room / 3))
    let before =
      before.cells + roomBehind <= room
      ? before : before.fitted(to: room - roomBehind, keepingEnd: true)
    row = label + before + behind.fitted(to: room - before.cells)
    cursor = (label + before).cells
  }
}
