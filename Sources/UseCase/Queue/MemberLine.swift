/// Members in the order of their identities, the lowest first: the oldest operation, or the next
/// alarm.
///
/// A member that leaves leaves its cell free. When there is no room for another member, and more
/// cells are free than taken, they are closed up: each event costs O(1) on average, and O(log *n*)
/// to find a member. To insert a member that is not the last costs O(*n*).
struct MemberLine<ID: Comparable & Sendable, Member: Sendable>: Sendable {
  /// The member is nil if its cell is free. The cell at `head` and the one before `tail` never are.
  private var cells: [(id: ID, member: Member?)] = []
  /// The cells before `head` and from `tail` on are free.
  private var (head, tail) = (0, 0)
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var firstID: ID? { count == 0 ? nil : cells[head].id }
  var lastID: ID? { count == 0 ? nil : cells[tail - 1].id }
  var first: Member? { count == 0 ? nil : cells[head].member }
  var ids: [ID] { cells[head..<tail].filter { $0.member != nil }.map(\.id) }
  var members: [Member] { cells[head..<tail].compactMap(\.member) }

  func contains(_ id: ID) -> Bool { member(id) != nil }

  func member(_ id: ID) -> Member? {
    let index = firstIndex(from: id)
    return index < tail && cells[index].id == id ? cells[index].member : nil
  }

  /// Returns the index of the first cell of this identity or a later one.
  private func firstIndex(from id: ID) -> Int {
    // Most members that leave are the first.
    if count > 0, id <= cells[head].id { return head }
    var (low, high) = (head, tail)
    while low < high {
      let middle = (low + high) / 2
      if cells[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ member: Member, _ id: ID) {
    if tail == cells.count, tail > 2 * count + 64 { closeUp() }
    let cell = (id: id, member: Optional(member))
    if tail > head, id < cells[tail - 1].id {
      cells.insert(cell, at: firstIndex(from: id))
    } else if tail < cells.count {
      cells[tail] = cell
    } else {
      cells.append(cell)
    }
    tail += 1
    count += 1
  }

  /// The member leaves, if it is there.
  mutating func remove(_ id: ID) -> Member? {
    let index = firstIndex(from: id)
    guard index < tail, cells[index].id == id, let member = cells[index].member.take()
    else { return nil }
    count -= 1
    if count == 0 {
      (head, tail) = (0, 0)
      if cells.count > 4_096 { cells = [] }
    } else {
      while cells[head].member == nil { head += 1 }
      while cells[tail - 1].member == nil { tail -= 1 }
    }
    return member
  }

  /// The first member leaves, if there is one.
  mutating func removeFirst() -> (id: ID, member: Member)? {
    guard let id = firstID, let member = remove(id) else { return nil }
    return (id, member)
  }

  private mutating func closeUp() {
    cells = cells.filter { $0.member != nil }
    (head, tail) = (0, count)
  }
}
