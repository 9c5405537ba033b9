/// What an execution that waits or runs is called. It may run code of a client: ask it outside of
/// locks.
protocol HistoryTitled: Sendable {
  var title: String { get }
}

/// The title of a group.
struct GroupTitle: HistoryTitled {
  let title: String
}
