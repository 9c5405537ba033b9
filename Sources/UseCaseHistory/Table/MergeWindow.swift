/// Whether the next recording may merge with the last one.
struct MergeWindow: Sendable {
  /// When an execution was asked for.
  struct Asked: Sendable {
    let time: Duration
    /// How much earlier another may have been asked for to merge with this one.
    fileprivate let length: Duration
    /// How many breaks were called before.
    fileprivate let breaks: Int
  }

  /// Holds for what is asked for from now on.
  var length: Duration
  private var breaks = 0
  /// When the last recording was asked for, nil if something came between.
  private var last: Asked?
  /// Grows with each change. So a ticket tells whether something has changed meanwhile.
  private var number = 0

  init(length: Duration) { self.length = length }

  /// The mark of an execution that is asked for at this time.
  func asked(at time: Duration) -> Asked { Asked(time: time, length: length, breaks: breaks) }

  /// Returns a ticket if a recording that was `asked` for may merge.
  func ticket(for asked: Asked) -> Int? {
    guard let last, asked.breaks == last.breaks, asked.time - last.time <= asked.length
    else { return nil }
    return number
  }

  /// Whether nothing has come between since the ticket was given.
  func isValid(_ ticket: Int?) -> Bool { ticket == number }

  /// Executions asked for before merge with none that is asked for from here on.
  mutating func breakOff() { (breaks, number) = (breaks + 1, number + 1) }

  mutating func open(for asked: Asked) { (last, number) = (asked, number + 1) }

  mutating func close() { (last, number) = (nil, number + 1) }
}
