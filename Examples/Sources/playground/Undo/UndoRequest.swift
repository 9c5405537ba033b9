import UseCaseHistory

/// The request of a button on the page of the lists.
struct UndoRequest: Decodable, Checked, Sendable {
  enum Action: String, Decodable {
    case add, toggle, move, remove, undo, redo, undoEntry, redoEntry, clear, trouble
  }

  let action: Action
  var item: Int?
  var list: Int?
  var text: String?
  var entry: HistoryEntry.ID?
  var trouble: Trouble.Settings?

  var complaint: String? {
    switch action {
    case .add:
      guard let text, (1...Lists.longestText).contains(text.utf8.count) else {
        return "an item has 1 to \(Lists.longestText) bytes"
      }
      return list == nil ? "which list?" : complaintAboutList
    case .toggle, .move, .remove: return item == nil ? "which item?" : nil
    case .undo, .redo: return complaintAboutList
    case .clear: return nil
    case .undoEntry, .redoEntry: return entry == nil ? "which entry?" : nil
    case .trouble:
      guard let trouble, (0...5000).contains(trouble.latency),
        (0...100).contains(trouble.failures)
      else { return "latency is 0 to 5000 ms; failures are 0 to 100 percent" }
      return nil
    }
  }

  private var complaintAboutList: String? {
    Lists.names.indices.contains(list ?? 0) ? nil : "there is no such list"
  }
}
