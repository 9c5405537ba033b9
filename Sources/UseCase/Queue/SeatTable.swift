/// The members of one queue: each has a seat, and stands in the line of its stage.
///
/// A member keeps its seat until it leaves. A later member gets the seat then, so a ticket names
/// both the seat and the identity of its member. The lines are linked through the seats, the oldest
/// member first: each method costs O(1), and `members` O(1) for each member.
struct SeatTable<Member: Sendable>: Sendable {
  enum Stage {
    case waiting, live, unwinding
  }

  /// The seats of one stage.
  struct Line {
    fileprivate var head = SeatLink.none
    fileprivate var tail = SeatLink.none
    fileprivate(set) var count = 0

    @inline(__always) var first: Int? { head.index }

    @inline(__always) fileprivate mutating func append(_ seat: Int, in seats: inout [Seat]) {
      seats[seat].previous = tail
      seats[seat].next = .none
      if let last = tail.index { seats[last].next = SeatLink(seat) } else { head = SeatLink(seat) }
      tail = SeatLink(seat)
      count += 1
    }

    @inline(__always) fileprivate mutating func remove(_ seat: Int, in seats: inout [Seat]) {
      let previous = seats[seat].previous
      let next = seats[seat].next
      if let index = previous.index { seats[index].next = next } else { head = next }
      if let index = next.index { seats[index].previous = previous } else { tail = previous }
      count -= 1
    }
  }

  fileprivate struct Seat {
    var member: Member?
    let id: UseCaseOperationID
    var previous = SeatLink.none
    var next = SeatLink.none
    /// Nil if the seat is free, and has no member.
    var stage: Stage?
    /// Whether the member has no pause, or its pause is over.
    var isReady = true

    @inline(__always) mutating func vacate(before next: SeatLink) {
      member = nil
      stage = nil
      self.next = next
    }
  }

  private(set) var waiting = Line()
  private(set) var live = Line()
  private(set) var unwinding = Line()
  private var seats: [Seat] = []
  /// The seat that became free last. It links to the one before.
  private var free = SeatLink.none

  /// Returns the seat of the ticket and the stage of its member, nil if that has left.
  @inline(__always) func find(_ ticket: QueueTicket) -> (seat: Int, stage: Stage)? {
    let seat = Int(ticket.seat)
    guard seat < seats.count, seats[seat].id == ticket.id,
      let stage = seats[seat].stage
    else { return nil }
    return (seat, stage)
  }

  @inline(__always) func member(at seat: Int) -> Member {
    guard let member = seats[seat].member else { preconditionFailure("A free seat has no member.") }
    return member
  }

  @inline(__always) func id(at seat: Int) -> UseCaseOperationID { seats[seat].id }

  /// Returns the members of a line, the oldest first.
  func members(of line: Line) -> some Sequence<Member> {
    sequence(state: line.head) { link in
      link.index.map { seat in
        link = seats[seat].next
        return member(at: seat)
      }
    }
  }

  /// Gives a seat to the member, at the end of the line of its stage. Returns the seat.
  @inline(__always) mutating func add(
    _ member: Member, id: UseCaseOperationID, stage: Stage, isReady: Bool = true
  ) -> Int {
    let taken = Seat(
      member: member, id: id, stage: stage, isReady: isReady)
    let seat = free.index ?? seats.count
    if free.index == nil {
      seats.append(consume taken)
    } else {
      free = seats[seat].next
      seats[seat] = consume taken
    }
    append(seat, to: stage)
    return seat
  }

  @inline(__always) func isReady(_ seat: Int) -> Bool { seats[seat].isReady }

  /// The pause of the member is over. The member keeps its place in the line.
  mutating func setReady(_ seat: Int) { seats[seat].isReady = true }

  // The callers say the stage of the member: to read it here would copy the member.

  /// Moves the member to the end of the line of another stage.
  @inline(__always) mutating func move(_ seat: Int, from old: Stage, to stage: Stage) {
    remove(seat, from: old)
    seats[seat].stage = stage
    append(seat, to: stage)
  }

  /// The member leaves.
  @inline(__always) mutating func vacate(_ seat: Int, from stage: Stage) {
    remove(seat, from: stage)
    seats[seat].vacate(before: free)
    free = SeatLink(seat)
  }

  @inline(__always) private mutating func append(_ seat: Int, to stage: Stage) {
    switch stage {
    case .waiting: waiting.append(seat, in: &seats)
    case .live: live.append(seat, in: &seats)
    case .unwinding: unwinding.append(seat, in: &seats)
    }
  }

  @inline(__always) private mutating func remove(_ seat: Int, from stage: Stage) {
    switch stage {
    case .waiting: waiting.remove(seat, in: &seats)
    case .live: live.remove(seat, in: &seats)
    case .unwinding: unwinding.remove(seat, in: &seats)
    }
  }
}

/// The index of a seat or none, in half the bytes of an optional.
private struct SeatLink {
  static let none = Self(code: -1)

  private let code: Int32

  private init(code: Int32) {
    self.code = code
  }

  init(_ index: Int) {
    self.init(code: Int32(index))
  }

  @inline(__always) var index: Int? { code < 0 ? nil : Int(code) }
}
