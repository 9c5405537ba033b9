import UseCaseHistory

extension CrashedSession {
  /// The same as the picture, for a terminal or a failed test.
  func text(in language: Language) -> String {
    let rows = rows.enumerated().map { index, row in
      let sign = index == self.rows.count - 1 ? "#" : row.record.isIntent ? ">" : "+"
      let applied = row.entries.filter(\.isApplied).map { $0.fate.text(of: $0.title) }
      let undone = row.entries.filter { !$0.isApplied }.map { $0.fate.text(of: $0.title) }
      let entries = (applied + ["|"] + undone).joined(separator: " ")
      let note = row.note[language].isEmpty ? "" : "   \(row.note[language])"
      return "\(sign) \(row.record.text[language].padded(to: 24))\(entries)\(note)"
    }
    let fates = fates.map { "\($1.text(of: $0))  \($1.text[language])" }
    return """
      \(Self.title)  \(Self.sentence[language])

      \(rows.joined(separator: "\n"))

      # \(Self.crash[language])
      \(fates.joined(separator: "\n"))

      """
  }
}

extension CrashedSession.Fate {
  fileprivate func text(of title: String) -> String {
    switch self {
    case .applied: "[\(title)]"
    case .undone: "(\(title))"
    case .inDoubt: "{\(title)?}"
    case .takenBack: " \(title) "
    }
  }
}
