extension HistoryFact {
  private typealias Numbers = HistoryFactNumbers
  private typealias Tag = HistoryFactNumbers.Tag

  func write(to writer: inout FactWriter) {
    func tag(_ tag: Tag) { writer.byte(tag.rawValue) }
    func tag(_ tag: Tag, _ id: ID) {
      writer.byte(tag.rawValue)
      writer.id(id)
    }
    switch self {
    case .began(let id, let group, let pair):
      tag(.began, id)
      writer.optional(group) { $0.id($1) }
      writer.pair(pair)
    case .moving(let id): tag(.moving, id)
    case .failed(let id): tag(.failed, id)
    case .answered(let id, let response, let isMarked):
      tag(.answered, id)
      writer.optional(response) { $0.blob($1) }
      writer.flag(isMarked)
    case .combined(let id, let pair):
      tag(.combined, id)
      writer.pair(pair)
    case .ended(let id, let end):
      tag(.ended, id)
      writer.byte(end.rawValue)
    case .undone(let id): tag(.undone, id)
    case .redone(let id, let response, let isMarked):
      tag(.redone, id)
      writer.optional(response) { $0.blob($1) }
      writer.flag(isMarked)
    case .obsolete(let id, let place):
      tag(.obsolete, id)
      writer.id(place)
    case .undoes(let id): tag(.undoes, id)
    case .redoes(let id): tag(.redoes, id)
    case .forgot(let id): tag(.forgot, id)
    case .opened(let id, let group, let title):
      tag(.opened, id)
      writer.optional(group) { $0.id($1) }
      writer.blob(title)
    case .closed(let id, let isLost):
      tag(.closed, id)
      writer.flag(isLost)
    case .moves(let isRedo, let count):
      tag(.moves)
      writer.flag(isRedo)
      writer.number(count)
    case .moved: tag(.moved)
    case .limited(let limit):
      tag(.limited)
      writer.optional(limit) { $0.number($1) }
    case .cleared: tag(.cleared)
    case .saved(let place):
      tag(.saved)
      writer.optional(place) { $0.word($1.sum) }
    case .discarded(let ids):
      tag(.discarded)
      writer.ids(ids)
    case .contradicts(let ids):
      tag(.contradicts)
      writer.ids(ids)
    case .piece(.start(let last, let newest, let places)):
      tag(.start, newest)
      writer.number(last)
      writer.word(places.sum.sum)
      writer.word(places.lastNumber)
      writer.number(places.covered)
    case .piece(.leaf(let id, let pair)):
      tag(.leaf, id)
      writer.pair(pair)
    case .piece(.bundle(let id, let title, let place, let count)):
      tag(.bundle, id)
      writer.blob(title)
      writer.word(place.sum)
      writer.number(count)
    case .piece(.kept(let isApplied)):
      tag(.kept)
      writer.flag(isApplied)
    case .piece(.partial(let count)):
      tag(.partial)
      writer.number(count)
    case .piece(.interrupted): tag(.interrupted)
    case .piece(.dropped(let reason)):
      tag(.dropped)
      guard let (number, _) = Numbers.reasons.first(where: { $0.reason == reason }) else {
        preconditionFailure("The reason \(reason) has no number in journals.")
      }
      writer.byte(number)
    }
  }

  init(from reader: inout FactReader) throws {
    let number = try reader.byte()
    guard let tag = Tag(rawValue: number) else { throw Malformed("No fact has the tag \(number).") }
    switch tag {
    case .began:
      self = .began(try reader.id(), in: try reader.optional { try $0.id() }, try reader.pair())
    case .moving: self = .moving(try reader.id())
    case .failed: self = .failed(try reader.id())
    case .answered:
      let (id, response) = (try reader.id(), try reader.optional { try $0.blob() })
      self = .answered(id, response, isMarked: try reader.flag())
    case .combined: self = .combined(try reader.id(), try reader.pair())
    case .ended:
      let id = try reader.id()
      let number = try reader.byte()
      guard let end = End(rawValue: number) else { throw Malformed("No end is \(number).") }
      self = .ended(id, end)
    case .undone: self = .undone(try reader.id())
    case .redone:
      let (id, response) = (try reader.id(), try reader.optional { try $0.blob() })
      self = .redone(id, response, isMarked: try reader.flag())
    case .obsolete: self = .obsolete(try reader.id(), place: try reader.id())
    case .undoes: self = .undoes(try reader.id())
    case .redoes: self = .redoes(try reader.id())
    case .forgot: self = .forgot(try reader.id())
    case .opened:
      let (id, group) = (try reader.id(), try reader.optional { try $0.id() })
      self = .opened(id, in: group, title: try reader.blob())
    case .closed: self = .closed(try reader.id(), isLost: try reader.flag())
    case .moves: self = .moves(isRedo: try reader.flag(), count: try reader.count())
    case .moved: self = .moved
    case .limited: self = .limited(try reader.optional { Int(clamping: try $0.number()) })
    case .cleared: self = .cleared
    case .saved: self = .saved(try reader.optional { HistoryPlace(sum: try $0.word()) })
    case .discarded: self = .discarded(try reader.ids())
    case .contradicts: self = .contradicts(try reader.ids())
    case .start:
      let (newest, last) = (try reader.id(), try reader.number())
      let places = HistoryPlaces(
        sum: HistoryPlace(sum: try reader.word()), lastNumber: try reader.word(),
        covered: try reader.count())
      self = .piece(.start(last: last, newest: newest, places))
    case .leaf: self = .piece(.leaf(try reader.id(), try reader.pair()))
    case .bundle:
      let (id, title, sum) = (try reader.id(), try reader.blob(), try reader.word())
      let place = HistoryPlace(sum: sum)
      self = .piece(.bundle(id, title: title, place, count: try reader.count()))
    case .kept: self = .piece(.kept(isApplied: try reader.flag()))
    case .partial: self = .piece(.partial(try reader.count()))
    case .interrupted: self = .piece(.interrupted)
    case .dropped:
      let number = try reader.byte()
      guard let (_, reason) = Numbers.reasons.first(where: { $0.number == number }) else {
        throw Malformed("No reason is \(number).")
      }
      self = .piece(.dropped(reason))
    }
  }
}
