extension HistoryFact {
  private enum Tag: UInt8 {
    case began = 1
    case moving, failed, answered, combined, ended, undone, redone
    case opened, closed, moves, moved, limited, cleared, saved, discarded
    case start, leaf, bundle, kept, partial, interrupted, dropped, obsolete, undoes, forgot
  }

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
      writer.optional(place) { $0.place($1) }
    case .discarded(let ids):
      tag(.discarded)
      writer.number(ids.count)
      for id in ids { writer.id(id) }
    case .piece(.start(let last, let newest, let places)):
      tag(.start, newest)
      writer.number(last)
      writer.place(places.sum)
      writer.number(places.lastNumber)
      writer.number(places.covered)
    case .piece(.leaf(let id, let pair)):
      tag(.leaf, id)
      writer.pair(pair)
    case .piece(.bundle(let id, let title, let place, let count)):
      tag(.bundle, id)
      writer.blob(title)
      writer.place(place)
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
      guard let number = Self.reasons.firstIndex(of: reason) else {
        preconditionFailure("Each reason has a number in journals.")
      }
      writer.byte(UInt8(number))
    }
  }

  init(from reader: inout FactReader) throws {
    guard let tag = Tag(rawValue: try reader.byte()) else { throw Malformed() }
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
      guard let end = End(rawValue: try reader.byte()) else { throw Malformed() }
      self = .ended(id, end)
    case .undone: self = .undone(try reader.id())
    case .redone:
      let (id, response) = (try reader.id(), try reader.optional { try $0.blob() })
      self = .redone(id, response, isMarked: try reader.flag())
    case .obsolete: self = .obsolete(try reader.id(), place: try reader.id())
    case .undoes: self = .undoes(try reader.id())
    case .forgot: self = .forgot(try reader.id())
    case .opened:
      let (id, group) = (try reader.id(), try reader.optional { try $0.id() })
      self = .opened(id, in: group, title: try reader.blob())
    case .closed: self = .closed(try reader.id(), isLost: try reader.flag())
    case .moves: self = .moves(isRedo: try reader.flag(), count: try reader.count())
    case .moved: self = .moved
    case .limited: self = .limited(try reader.optional { try $0.count() })
    case .cleared: self = .cleared
    case .saved: self = .saved(try reader.optional { try $0.place() })
    case .discarded:
      var ids: [ID] = []
      for _ in 0..<(try reader.count()) { ids.append(try reader.id()) }
      self = .discarded(ids)
    case .start:
      let (newest, last, sum) = (try reader.id(), try reader.number(), try reader.place())
      let places = HistoryPlaces(
        sum: sum, lastNumber: try reader.number(), covered: try reader.count())
      self = .piece(.start(last: last, newest: newest, places))
    case .leaf: self = .piece(.leaf(try reader.id(), try reader.pair()))
    case .bundle:
      let (id, title, place) = (try reader.id(), try reader.blob(), try reader.place())
      self = .piece(.bundle(id, title: title, place, count: try reader.count()))
    case .kept: self = .piece(.kept(isApplied: try reader.flag()))
    case .partial: self = .piece(.partial(try reader.count()))
    case .interrupted: self = .piece(.interrupted)
    case .dropped:
      let index = Int(try reader.byte())
      guard Self.reasons.indices.contains(index) else { throw Malformed() }
      self = .piece(.dropped(Self.reasons[index]))
    }
  }

  /// In the order of their numbers in a journal.
  private static let reasons: [HistoryDiscardReason] = [
    .truncated, .evicted, .cleared, .merged, .annulled, .obsolete, .forgotten,
  ]
}
