import Testing

@testable import UseCase

struct MemberLineTests {
  @Test func `a line does what a sorted array does`() {
    var random = SystemRandomNumberGenerator()
    var line = MemberLine<UInt64>()
    var plain: [UInt64] = []
    for step in 0..<20_000 {
      // It grows, shrinks to nothing, and grows again.
      let grows = (step / 1_000).isMultiple(of: 2)
      switch UInt8.random(in: 0..<4, using: &random) {
      case 0 where grows, 1 where grows:
        let id = UInt64(step) * 2
        plain.append(id)
        line.insert(id, .init(number: id))
      case 2 where grows && step > 0:
        // Out of order, as after a change of priority.
        let id = UInt64.random(in: 0..<UInt64(step), using: &random) * 2 + 1
        guard !plain.contains(id) else { continue }
        plain.insert(id, at: plain.firstIndex { $0 > id } ?? plain.count)
        line.insert(id, .init(number: id))
      case 3:
        let first = plain.isEmpty ? nil : plain.removeFirst()
        #expect(line.removeFirst()?.member == first)
      default:
        let id = plain.randomElement(using: &random) ?? 7
        #expect(line.contains(.init(number: id)) == plain.contains(id))
        let removed = plain.firstIndex(of: id).map { plain.remove(at: $0) }
        #expect(line.remove(.init(number: id)) == removed)
        #expect(!line.contains(.init(number: id)))
      }
      guard line.count == plain.count, line.firstID?.number == plain.first,
        line.lastID?.number == plain.last, line.isEmpty == plain.isEmpty
      else { Issue.record("step \(step): \(line), not \(plain)"); return }
      if step.isMultiple(of: 100) { #expect(line.members == plain) }
    }
  }
}
