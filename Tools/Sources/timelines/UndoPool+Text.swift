import UseCaseHistory

extension UndoPool {
  /// The same as the picture, for a terminal or a failed test.
  func text(in language: Language) -> String {
    let rows = rows.map { row in
      let applied = row.entries.filter(\.isApplied).map(\.text)
      let undone = row.entries.filter { !$0.isApplied }.map(\.text)
      let entries = (applied + ["|"] + undone).joined(separator: " ")
      let note = row.note[language].isEmpty ? "" : "   \(row.note[language])"
      return "\(row.hasFailed ? "#" : "+") \(row.asked[language].padded(to: 18))\(entries)\(note)"
    }
    return """
      \(Self.title)  \(Self.sentence[language])

      \(rows.joined(separator: "\n"))

      [A] \(Self.applied[language])   (A) \(Self.undone[language])   | \(Self.cursor[language])

      """
  }
}

extension HistoryEntry {
  fileprivate var text: String {
    let content =
      children.isEmpty ? title : "\(title): " + children.map(\.title).joined(separator: " ")
    return isApplied ? "[\(content)]" : "(\(content))"
  }
}
