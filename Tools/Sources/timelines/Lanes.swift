import UseCase

/// Draws the lanes of a timeline, one below the other, in a part of a picture.
struct Lanes {
  let timeline: Timeline
  let language: Language
  let left: Double

  /// How wide a tick is.
  let unit: Double

  /// Where the first lane begins.
  let top: Double

  var pitch = 32.0
  var barHeight = 20.0

  /// Whether words say what has become of the operations that have not succeeded.
  var hasNotes = true

  /// Whether each operation carries its text, and an arrow to the one that it supersedes.
  var hasWords = true

  /// Whether the outcome of an operation has its sign.
  var hasSigns = true

  var bottom: Double { top + Double(timeline.lanes.count) * pitch }

  func x(_ tick: Int) -> Double { left + Double(tick) * unit }
  func y(_ lane: Int) -> Double { top + (Double(lane) + 0.5) * pitch }

  /// Draws the acts of the user, each at its time.
  func drawKeys(in svg: inout SVG, _ baseline: Double) {
    for lane in timeline.lanes {
      svg.moment = lane.executed
      svg.text(lane.text, x(lane.executed), baseline, "label key")
    }
    svg.moment = nil
  }

  /// A line from there to each lane, which leaves out the words on its way.
  func drawGuides(in svg: inout SVG, from top: Double) {
    for (index, lane) in timeline.lanes.enumerated() {
      let x = x(lane.executed)
      var path = "M\(x.short) \(top.short)"
      let others = timeline.lanes[..<index].enumerated().filter { isWritten($0.element, at: x) }
      for (other, _) in others {
        path += "V\((y(other) - 9).short)M\(x.short) \((y(other) + 9).short)"
      }
      svg.moment = lane.executed
      svg.path(path + "V\(y(index).short)", "guide")
    }
    svg.moment = nil
  }

  private func isWritten(_ lane: Timeline.Lane, at x: Double) -> Bool {
    guard let note = lane.note(in: language) else { return false }
    let start = self.x(note.tick) + note.offset
    return start - 3 < x && x < start + note.text.width + 3
  }

  func draw(in svg: inout SVG) {
    for (index, lane) in timeline.lanes.enumerated() {
      drawBars(of: lane, in: &svg, y(index), isStale: index == timeline.staleLane)
    }
    for (index, lane) in timeline.lanes.enumerated() {
      guard hasSigns else { continue }
      svg.moment = lane.outcome.tick
      if hasWords, let superseder = lane.superseder {
        let start = x(timeline.lanes[superseder].executed)
        svg.arrow(from: start, y(superseder), to: y(index) + barHeight / 2 + 2)
      }
      drawOutcome(of: lane, in: &svg, y(index))
    }
    svg.moment = nil
  }

  private func drawBars(
    of lane: Timeline.Lane, in svg: inout SVG, _ y: Double, isStale: Bool
  ) {
    svg.moment = lane.executed
    if lane.pauses, !lane.waiting.isEmpty {
      svg.pause(x(lane.executed), y + barHeight / 2, Double(lane.waiting.count) * unit)
    } else {
      box(lane.waiting, "waiting", barHeight, in: &svg, y)
    }
    box(lane.running, isStale ? "stale" : "running", barHeight, in: &svg, y)
    box(lane.unwinding, "unwinding", max(barHeight - 8, barHeight * 0.6), in: &svg, y)
    guard hasWords, hasSigns else { return }
    if !lane.running.isEmpty {
      label(lane.text, "inBar", from: lane.running, in: &svg, y)
    } else if !lane.waiting.isEmpty {
      label(lane.text, "label", from: lane.waiting, in: &svg, y)
    } else {
      svg.text(lane.text, x(lane.executed) + 12, y + 5, "label")
    }
  }

  private func box(
    _ ticks: Range<Int>, _ style: String, _ height: Double, in svg: inout SVG, _ y: Double
  ) {
    guard !ticks.isEmpty else { return }
    svg.box(
      x(ticks.lowerBound), y - height / 2, Double(ticks.count) * unit, height, style, over: ticks)
  }

  /// As far from the left as the bar allows, up to a point.
  private func label(
    _ text: String, _ style: String, from ticks: Range<Int>, in svg: inout SVG, _ y: Double
  ) {
    let room = Double(ticks.count) * unit - text.width
    svg.text(text, x(ticks.lowerBound) + max(1, min(6, room / 2)), y + 5, style)
  }

  /// A body that has returned carries its sign. One that was cut off has it behind the cut, where
  /// it hides nothing.
  private func drawOutcome(of lane: Timeline.Lane, in svg: inout SVG, _ y: Double) {
    let (tick, mark) = lane.outcome
    switch mark {
    case .succeeded, .failed:
      svg.mark(mark, x(tick) - 11, y)
    case .cancelled(.dropped), .cancelled(.closed):
      svg.mark(mark, x(tick), y)
    case .cancelled(.superseded), .cancelled(.requested), .cancelled(.scopeEnded),
      .cancelled(.thrown):
      svg.mark(mark, x(tick) + (lane.unwinding.isEmpty ? 13 : 10), y)
    }
    if hasNotes, let note = lane.note(in: language) {
      svg.moment = note.tick
      svg.text(note.text, x(note.tick) + note.offset, y + 5, "faint")
    }
  }

  /// The last row: what the screen shows.
  func drawShown(in svg: inout SVG, _ top: Double, width: Double) {
    let last = timeline.lanes.last { $0.text == timeline.shown.last }?.outcome.tick
    svg.shown(
      timeline.shown, in: language, left, top, width: width, last: last,
      isStale: timeline.staleLane != nil)
  }

  /// A line with a mark every half second, up to the end of what is drawn.
  func drawAxis(in svg: inout SVG, _ y: Double, until end: Int, width: Double) {
    svg.line(left, y, x(end), y, "rule")
    for tick in stride(from: 0, through: end, by: Timeline.ticksPerHalfSecond) {
      svg.line(x(tick), y, x(tick), y + 5, "rule")
      let tenths = 5 * tick / Timeline.ticksPerHalfSecond
      let time = language.seconds(tenths: tenths)
      let anchor = tick == 0 ? "" : x(tick) + 20 > left + width ? " ending" : " centred"
      svg.text(time, x(tick), y + 19, "faint" + anchor)
    }
  }
}

extension Lanes {
  /// Returns the width of a tick with which everything fits, the words behind the bars too.
  static func unit(
    for timelines: [Timeline], in language: Language, width: Double, atMost most: Double
  ) -> Double {
    let limits = timelines.flatMap(\.lanes).flatMap { lane in
      let note = lane.note(in: language).map {
        (width - $0.offset - $0.text.width) / Double($0.tick)
      }
      return [width / Double(lane.ended)] + (note.map { [$0] } ?? [])
    }
    return (10 * limits.reduce(most, min)).rounded(.down) / 10
  }
}
