/// Members in the order of their identities, the lowest first: the oldest operation, or the next
/// alarm.
///
/// A member that leaves leaves its place free. When there is no room for another member, and more
/// places are free than taken, they are closed up: each event costs O(1) on average, and O(log *n*)
/// to find a member. To insert a member that is not the last costs O(*n*).
struct MemberLine<ID: Comparable & Sendable, Member: Sendable>: Sendable {
  /// The member is nil if its place is free. The first place and the last one never are, from `head`
  /// on.
  private var places: [(id: ID, member: Member?)] = []
  /// The places before `head` and from `tail` on are free.
  private var (head, tail) = (0, 0)
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var firstID: ID? { count == 0 ? nil : places[head].id }
  var lastID: ID? { count == 0 ? nil : places[tail - 1].id }
  var first: Member? { count == 0 ? nil : places[head].member }
  var members: [Member] { places[head..<tail].compactMap(\.member) }

  func contains(_ id: ID) -> Bool {
    let index = firstIndex(from: id)
    return index < tail && places[index].id == id && places[index].member != nil
  }

  /// Returns the index of the first place of this identity or a later one.
  private func firstIndex(from id: ID) -> Int {
    // Most members that leave are the first.
    if count > 0, id <= places[head].id { return head }
    var (low, high) = (head, tail)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ member: Member, _ id: ID) {
    if tail == places.count, tail > 2 * count + 64 { closeUp() }
    let place = (id: id, member: Optional(member))
    if tail > head, id < places[tail - 1].id {
      places.insert(place, at: firstIndex(from: id))
    } else if tail < places.count {
      places[tail] = place
    } else {
      places.append(place)
    }
    tail += 1
    count += 1
  }

  /// The member leaves, if it is there.
  mutating func remove(_ id: ID) -> Member? {
    let index = firstIndex(from: id)
    guard index < tail, places[index].id == id, let member = places[index].member.take()
    else { return nil }
    count -= 1
    if count == 0 {
      (head, tail) = (0, 0)
      if places.count > 4_096 { places = [] }
    } else {
      while places[head].member == nil { head += 1 }
      while places[tail - 1].member == nil { tail -= 1 }
    }
    return member
  }

  /// The first member leaves, if there is one.
  mutating func removeFirst() -> (id: ID, member: Member)? {
    guard let id = firstID, let member = remove(id) else { return nil }
    return (id, member)
  }

  private mutating func closeUp() {
    places = places.filter { $0.member != nil }
    (head, tail) = (0, count)
  }
}
