/// Whether the next recording may merge with the last one.
struct MergeWindow: Sendable {
  private enum State {
    /// Something came between. Next is `open`.
    case closed
    /// There was a recording at this time. Next is `closed`, or `open` again.
    case open(since: Duration)
  }

  /// A state of the window, to tell whether it has changed meanwhile.
  struct Ticket: Equatable, Sendable {
    fileprivate let number: Int
  }

  private let length: Duration
  private var state = State.closed
  private var ticket = Ticket(number: 0)

  init(length: Duration) {
    self.length = length
  }

  /// Returns a ticket if a recording at `now` may merge.
  func ticket(at now: Duration) -> Ticket? {
    guard case .open(let last) = state, now - last <= length else { return nil }
    return ticket
  }

  /// Whether nothing has come between since the ticket was given.
  func isValid(_ ticket: Ticket?) -> Bool { ticket == self.ticket }

  mutating func open(at now: Duration) { set(.open(since: now)) }

  mutating func close() { set(.closed) }

  private mutating func set(_ state: State) {
    self.state = state
    ticket = Ticket(number: ticket.number + 1)
  }
}

/// The fate of a step that is recorded right behind another.
@usableFromInline
enum HistoryMerging<Step: Sendable>: Sendable {
  case separate
  case merged(Step)
  case annul

  func map<Other>(_ transform: (Step) -> Other) -> HistoryMerging<Other> {
    switch self {
    case .separate: .separate
    case .merged(let step): .merged(transform(step))
    case .annul: .annul
    }
  }
}
