/// A collection that keeps its first element inline: only a second one needs an array.
@usableFromInline
package enum Few<Element> {
  case none
  case one(Element)
  case several([Element])
}

extension Few {
  /// Adds an element at the end.
  @inlinable
  package mutating func append(_ element: consuming Element) {
    // Consumed, so that the array has one owner and is not copied.
    switch consume self {
    case .none: self = .one(element)
    case .one(let first): self = .several([first, element])
    case .several(var elements):
      elements.append(element)
      self = .several(elements)
    }
  }

  /// Removes an element, and closes the gap.
  package mutating func remove(at index: Int) -> Element {
    switch consume self {
    case .one(let element) where index == 0:
      self = .none
      return element
    case .several(var elements):
      let element = elements.remove(at: index)
      self = .several(elements)
      return element
    case .none, .one: preconditionFailure("The index \(index) is out of range.")
    }
  }

  /// Puts an element in the place of another, and returns the latter. Neither is copied.
  @inlinable
  package mutating func exchange(_ element: consuming Element, at index: Int) -> Element {
    switch consume self {
    case .one(let old) where index == 0:
      self = .one(element)
      return old
    case .several(var elements):
      swap(&elements[index], &element)
      self = .several(elements)
      return element
    case .none, .one: preconditionFailure("The index \(index) is out of range.")
    }
  }

  /// Calls `body` with each element in order. Unlike iteration, it copies no element.
  @inlinable
  package consuming func forEach(_ body: (Element) -> Void) {
    switch consume self {
    case .none: break
    case .one(let element): body(element)
    case .several(let elements): elements.forEach(body)
    }
  }
}

extension Few: RandomAccessCollection {
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
    switch self {
    case .one(let element) where index == 0: return element
    case .several(let elements): return elements[index]
    case .none, .one: preconditionFailure("The index \(index) is out of range.")
    }
  }
}

extension Few: Sendable where Element: Sendable {}
