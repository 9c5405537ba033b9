import UseCaseHistory

extension UndoPool {
  /// The same as the picture, for a terminal or a failed test.
  func text(in language: Language) -> String {
    let rows = rows.map { row in
      let applied = row.entries.filter(\.isApplied).map { $0.text(in: language) }
      let undone = row.entries.filter { !$0.isApplied }.map { $0.text(in: language) }
      let entries = (applied + ["|"] + undone).joined(separator: " ")
      let note = row.note[language].isEmpty ? "" : "   \(row.note[language])"
      return "\(row.hasFailed ? "#" : "+") \(row.asked[language].padded(to: 18))\(entries)\(note)"
    }
    return """
      \(title)  \(sentence[language])

      \(rows.joined(separator: "\n"))

      [A] \(Self.applied[language])   (A) \(Self.undone[language])   | \(Self.cursor[language])

      """
  }
}

extension HistoryEntry {
  fileprivate func text(in language: Language) -> String {
    let words = ([self] + children).map { UndoPool.word($0.title)[language] }
    let content =
      children.isEmpty ? words[0] : "\(words[0]): " + words.dropFirst().joined(separator: " ")
    return isApplied ? "[\(content)]" : "(\(content))"
  }
}
