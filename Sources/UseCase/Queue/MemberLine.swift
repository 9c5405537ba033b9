/// Members in the order of their identities, the oldest first.
///
/// A member that leaves from the middle leaves its place free. When more places are free than
/// taken, they are closed up: each event costs O(1) on average, and O(log *n*) to find a member. To
/// insert a member that is not the newest costs O(*n*).
struct MemberLine<Member: Sendable>: Sendable {
  private struct Place: Sendable {
    let id: UseCaseOperationID
    /// Nil if the place is free. The first place and the last one never are, from `head` on.
    var member: Member?
  }

  private var places: [Place] = []
  /// The places before this one are free.
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var firstID: UseCaseOperationID? { count == 0 ? nil : places[head].id }
  var lastID: UseCaseOperationID? { count == 0 ? nil : places[places.count - 1].id }
  var members: [Member] { places[head...].compactMap(\.member) }

  func contains(_ id: UseCaseOperationID) -> Bool {
    let index = firstIndex(from: id)
    return index < places.count && places[index].id == id && places[index].member != nil
  }

  /// Returns the index of the first place of this identity or a later one.
  private func firstIndex(from id: UseCaseOperationID) -> Int {
    var (low, high) = (head, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ member: Member, _ id: UseCaseOperationID) {
    let index = firstIndex(from: id)
    places.insert(Place(id: id, member: member), at: index)
    count += 1
  }

  /// The member leaves, if it is there.
  mutating func remove(_ id: UseCaseOperationID) -> Member? {
    let index = firstIndex(from: id)
    guard index < places.count, places[index].id == id, let member = places[index].member else {
      return nil
    }
    places[index].member = nil
    count -= 1
    closeUp()
    return member
  }

  /// The oldest member leaves, if there is one.
  mutating func removeFirst() -> (id: UseCaseOperationID, member: Member)? {
    guard let id = firstID, let member = remove(id) else { return nil }
    return (id, member)
  }

  private mutating func closeUp() {
    guard count > 0 else {
      places.removeAll(keepingCapacity: places.count <= 64)
      head = 0
      return
    }
    while places[head].member == nil { head += 1 }
    while places[places.count - 1].member == nil { places.removeLast() }
    if places.count > 2 * count + 64 {
      places = places.filter { $0.member != nil }
      head = 0
    }
  }
}
