import Testing

@testable import UseCase
@testable import UseCaseInternals

struct FewTests {
  @Test(arguments: 0...4)
  func `elements come out in the order in which they went in`(count: Int) {
    var few = Few<Int>.none
    for number in 0..<count { few.append(number) }
    #expect(few.all == Array(0..<count))
    #expect(Array(few) == Array(0..<count))
  }

  @Test(arguments: 1...4)
  func `an element is exchanged for another`(count: Int) {
    var few = Few<Int>.none
    for number in 0..<count { few.append(number) }
    #expect(few.exchange(7, at: count - 1) == count - 1)
    #expect(Array(few) == Array(0..<count - 1) + [7])
  }

  @Test func `only more than one element needs an array`() {
    var few = Few<Int>.none
    guard case .none = few else { return #expect(Bool(false)) }
    few.append(1)
    guard case .one(1) = few else { return #expect(Bool(false)) }
    few.append(2)
    guard case .several([1, 2]) = few else { return #expect(Bool(false)) }
  }

  @Test func `ten thousand elements are not copied for each that comes`() {
    var few = Few<Int>.none
    for number in 0..<3 { few.append(number) }
    var moves = 0
    var last = few.address
    for number in 3..<10_000 {
      few.append(number)
      if few.address != last { moves += 1 }
      last = few.address
    }
    #expect(moves < 20)
  }
}

extension Few {
  var all: [Element] {
    var all: [Element] = []
    forEach { all.append($0) }
    return all
  }

  fileprivate var address: UnsafeRawPointer? {
    guard case .several(let elements) = self else { return nil }
    return elements.withUnsafeBytes(\.baseAddress)
  }
}
