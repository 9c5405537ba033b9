import TestSupport
import Testing

struct EveryOrderTests {
  /// Actors that write letters on a wall, wait for letters, and follow each other.
  private struct Wall: ActedWorld {
    enum Act: Hashable {
      case write(String), count, await(Character), dislike(Character), turn
    }

    var text = ""
    var counted = 0
    var mayEnd = true

    func isReady(_ act: Act) -> Bool {
      if case .await(let letter) = act { text.contains(letter) } else { true }
    }

    mutating func take(_ act: Act) throws -> [Act] {
      switch act {
      case .write(let letters):
        text.append(contentsOf: letters.prefix(1))
        return letters.count > 1 ? [.write(String(letters.dropFirst()))] : []
      case .count: counted += 1
      case .await: break
      case .dislike(let letter): if text.last == letter { throw Failure() }
      case .turn: return [.turn]
      }
      return []
    }

    func checkEnd() throws {
      if !mayEnd { throw Failure() }
    }
  }

  private struct Failure: Error {}

  @Test func `two actors of three acts meet in twenty orders`() throws {
    let (worlds, orders) = try Wall().takeInEveryOrder([.write("abc"), .write("xyz")])
    #expect(orders == 20)
    #expect(worlds == 69)
  }

  @Test func `orders that lead to the same world go on together`() throws {
    let (worlds, orders) = try Wall().takeInEveryOrder(Array(repeating: .count, count: 8))
    #expect(orders == 40_320)
    #expect(worlds == 9)
  }

  @Test func `an actor that waits goes on when it may`() throws {
    let (_, orders) = try Wall().takeInEveryOrder([.write("ab"), .await("a")])
    #expect(orders == 2)
  }

  @Test func `an actor that waits for ever is found`() {
    let error = #expect(throws: BadOrder.self) {
      try Wall().takeInEveryOrder([.write("ab"), .await("c")])
    }
    #expect(error?.reason.contains("await(\"c\")] wait for ever") == true)
    #expect(error?.trace.count == 2)
  }

  @Test func `the one bad order is found`() {
    let error = #expect(throws: BadOrder.self) {
      try Wall().takeInEveryOrder([.write("abc"), .dislike("b")])
    }
    #expect(error?.trace.count == 3)
    #expect(error?.description.hasPrefix("Failure()") == true)
  }

  @Test func `a bad end is found`() {
    let error = #expect(throws: BadOrder.self) {
      try Wall(mayEnd: false).takeInEveryOrder([.write("a")])
    }
    #expect(error?.trace.count == 1)
  }

  @Test func `actors that go round in circles are found`() {
    let error = #expect(throws: BadOrder.self) { try Wall().takeInEveryOrder([.turn]) }
    #expect(error?.reason.contains("circles") == true)
  }
}
