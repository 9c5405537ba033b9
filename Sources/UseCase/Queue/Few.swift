/// Elements in order, of which there is mostly none or one: only more of them need an array.
enum Few<Element: Sendable>: Sendable {
  case none, one(Element), several([Element])

  /// Puts the element last. Costs O(1) amortised.
  mutating func append(_ element: Element) {
    // Consumed, so that nobody else holds the array, which would then be copied.
    switch consume self {
    case .none: self = .one(element)
    case .one(let first): self = .several([first, element])
    case .several(var elements):
      elements.append(element)
      self = .several(elements)
    }
  }

  consuming func forEach(_ body: (Element) -> Void) {
    switch consume self {
    case .none: break
    case .one(let element): body(element)
    case .several(let elements): elements.forEach(body)
    }
  }
}
