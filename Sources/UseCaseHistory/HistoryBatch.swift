/// A few elements in order. Mostly there is one, which needs no array.
enum HistoryBatch<Element> {
  case none
  case one(Element)
  case several([Element])
}

extension HistoryBatch: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }

  var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .several(let elements): elements.count
    }
  }

  subscript(index: Int) -> Element {
    get {
      switch self {
      case .one(let element) where index == 0: return element
      case .several(let elements): return elements[index]
      case .none, .one: preconditionFailure("there are not so many")
      }
    }
    set {
      switch self {
      case .one where index == 0:
        self = .one(newValue)
      case .several(var elements):
        self = .none
        elements[index] = newValue
        self = .several(elements)
      case .none, .one: preconditionFailure("there are not so many")
      }
    }
  }
}

extension HistoryBatch: Sendable where Element: Sendable {}
