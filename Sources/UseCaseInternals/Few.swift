/// Elements in order. Only two or more of them need an array.
@usableFromInline
package enum Few<Element> {
  case none, one(Element), several([Element])

  /// Puts the element last.
  @inlinable
  package mutating func append(_ element: Element) {
    // Consumed, so that nothing else holds the array, which would then be copied.
    switch consume self {
    case .none: self = .one(element)
    case .one(let first): self = .several([first, element])
    case .several(var elements):
      elements.append(element)
      self = .several(elements)
    }
  }

  @inlinable
  package consuming func forEach(_ body: (Element) -> Void) {
    switch consume self {
    case .none: break
    case .one(let element): body(element)
    case .several(let elements): elements.forEach(body)
    }
  }
}

extension Few: RandomAccessCollection, MutableCollection {
  @inlinable package var startIndex: Int { 0 }

  @inlinable package var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .several(let elements): elements.count
    }
  }

  @inlinable
  package subscript(index: Int) -> Element {
    get {
      switch self {
      case .one(let element) where index == 0: return element
      case .several(let elements): return elements[index]
      case .none, .one: preconditionFailure("There are not so many elements.")
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
      case .none, .one: preconditionFailure("There are not so many elements.")
      }
    }
  }
}

extension Few: Sendable where Element: Sendable {}
