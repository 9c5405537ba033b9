import UseCase

/// The meanings of the shapes in a picture. An item for each that occurs, and for no other.
///
/// An operation that ends without success says so in its own lane, so that only the check is
/// explained here.
struct Legend {
  enum Item: CaseIterable {
    case runs, succeeded, waits, pauses, supersedes, unwinds

    var name: Phrase {
      switch self {
      case .runs: Words.runs
      case .waits: Words.waits
      case .pauses: Words.pauses
      case .unwinds: Words.unwinds
      case .supersedes: Words.supersedes
      case .succeeded: Timeline.Lane.Mark.succeeded.name
      }
    }

    fileprivate var width: Double {
      switch self {
      case .runs, .waits, .pauses, .unwinds: 32
      case .supersedes, .succeeded: 14
      }
    }

    fileprivate func occurs(in lane: Timeline.Lane) -> Bool {
      switch self {
      case .runs: !lane.running.isEmpty
      case .waits: !lane.waiting.isEmpty && !lane.pauses
      case .pauses: !lane.waiting.isEmpty && lane.pauses
      case .unwinds: !lane.unwinding.isEmpty
      case .supersedes: lane.superseder != nil
      case .succeeded: lane.outcome.mark == .succeeded
      }
    }
  }

  let items: [Item]
  private let language: Language
  private static let rowHeight = 24.0

  init(of timelines: [Timeline], in language: Language) {
    let lanes = timelines.flatMap(\.lanes)
    items = Item.allCases.filter { lanes.contains(where: $0.occurs) }
    self.language = language
  }

  /// Draws the items in as many rows as it takes, and returns where the next thing may stand.
  func draw(in svg: inout SVG, _ left: Double, _ top: Double, width: Double) -> Double {
    var (x, y) = (left, top + Self.rowHeight / 2)
    for item in items {
      let itemWidth = item.width + 8 + item.name[language].width
      if x > left, x + itemWidth > left + width { (x, y) = (left, y + Self.rowHeight) }
      draw(item, in: &svg, x, y)
      svg.text(item.name[language], x + item.width + 8, y + 5, "faint")
      x += itemWidth + 12
    }
    return y + Self.rowHeight / 2
  }

  private func draw(_ item: Item, in svg: inout SVG, _ x: Double, _ y: Double) {
    switch item {
    case .runs: svg.box(x, y - 7, item.width, 14, "running")
    case .waits: svg.box(x, y - 7, item.width, 14, "waiting")
    case .pauses: svg.pause(x, y, item.width)
    case .unwinds: svg.box(x, y - 5, item.width, 10, "unwinding")
    case .supersedes: svg.arrow(from: x + 14, y + 6, to: y - 8)
    case .succeeded: svg.mark(.succeeded, x + 7, y)
    }
  }
}
