import TestSupport
import Testing

@testable import UseCaseHistory

@Suite(.mustEnd)
struct HistoryBatchTests {
  private static func batch(_ count: Int) -> HistoryBatch<Int> {
    switch count {
    case 0: .none
    case 1: .one(0)
    default: .several(Array(0..<count))
    }
  }

  @Test(arguments: 0...3)
  func `it is a collection of any size`(count: Int) {
    let batch = Self.batch(count)
    #expect(Array(batch) == Array(0..<count))
    #expect(batch.count == count && batch.isEmpty == (count == 0))
    #expect(batch.first == (0..<count).first && batch.last == (0..<count).last)
  }

  @Test(arguments: 1...3)
  func `each element can be replaced`(count: Int) {
    for index in 0..<count {
      var batch = Self.batch(count)
      batch[index] = 7
      #expect(Array(batch) == (0..<count).map { $0 == index ? 7 : $0 })
    }
  }

  @Test func `only one needs no array`() {
    guard case .one(5) = HistoryStack([4, 5]).newest(1) else {
      Issue.record("one element is in an array")
      return
    }
  }

  @Test func `many are replaced without being copied each time`() {
    var batch = Self.batch(100_000)
    for index in batch.indices { batch[index] += 1 }
    #expect(batch.last == 100_000)
  }
}
