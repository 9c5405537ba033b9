import TestSupport
import Testing
import UseCaseHistory

@testable import UseCaseJournal

/// The bytes of a journal, without a file.
struct JournalReaderTests {
  /// The bytes of a change, in the words of the format.
  private func change(_ version: Int64, _ rows: Rows) -> [UInt8] {
    var (bytes, keys) = ([UInt8](), rows.keys.sorted()[...])
    repeat {
      let key = keys.popFirst()
      let row = key.map { ($0, rows[$0] ?? nil) }
      JournalFormat.append(row, version: version, isLast: keys.isEmpty, to: &bytes)
    } while !keys.isEmpty
    return bytes
  }

  /// A file whose first change is whole.
  private func file(_ base: [UInt8], _ rest: [UInt8]...) -> [UInt8] {
    JournalFormat.header(whole: Int64(24 + base.count)) + base + rest.joined()
  }

  private func read(_ file: [UInt8]) -> Result<JournalReader, any Error> {
    Result {
      try JournalReader(
        ByteWindow(Int64(file.count)) { offset, count in
          Array(file.dropFirst(Int(offset)).prefix(count))
        })
    }
  }

  private func rows(_ file: [UInt8]) throws -> HistoryRows { try read(file).get().rows }

  private func fault(_ file: [UInt8]) -> JournalFault? {
    guard case .failure(let error) = read(file) else { return nil }
    return error as? JournalFault
  }

  private func damaged(_ offset: Int) -> JournalFault { .damaged(at: Int64(offset)) }

  // MARK: What is written is read

  @Test func `the last write of a row wins`() throws {
    let bytes = file(
      change(41, [1: [1], 2: [2], 3: [3]]), change(42, [2: nil, 1: [4]]), change(43, [:]),
      change(44, [2: [], 9: nil]))
    #expect(try rows(bytes) == HistoryRows(version: 44, rows: [1: [4], 2: [], 3: [3]]))
    #expect(try read(bytes).get().end == Int64(bytes.count))
  }

  @Test func `a row has these bytes`() {
    let row = change(0x0102, [0x0304: [5, 6]])
    let start: [UInt8] = [2, 0, 0, 0x80] + bytes(of: crc32c([5, 6]))
    let numbers: [UInt8] = [4, 3, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]
    #expect(row == start + numbers + bytes(of: crc32c(start + numbers)) + [5, 6])
    #expect(change(1, [1: nil]).prefix(8) == [0, 0, 0, 0xc0, 0, 0, 0, 0])
    #expect(change(1, [:]).prefix(8) == [0, 0, 0, 0xa0, 0, 0, 0, 0])
  }

  @Test func `the checksum is CRC-32C`() {
    #expect(crc32c(Array("123456789".utf8)) == 0xe306_9283)
    #expect(Checksum.of(Array("123456789".utf8)[...]) == 0xe306_9283)
    #expect(Checksum.of([]) == 0)
  }

  @Test func `the highest version is read, and none comes behind it`() throws {
    let bytes = file(change(.max - 1, [1: [1]]), change(.max, [2: [2]]))
    #expect(try rows(bytes) == HistoryRows(version: .max, rows: [1: [1], 2: [2]]))
    #expect(fault(bytes + change(.max, [3: [3]])) == damaged(bytes.count))
    #expect(fault(bytes + change(.min, [3: [3]])) == nil)
    #expect(fault(bytes + change(0, [3: [3]])) == damaged(bytes.count))
  }

  // MARK: The whole part

  @Test(.holds("Files"))
  func `a file that is shorter than its whole part is damaged`() {
    let bytes = file(change(1, [1: [1], 2: [2]]))
    for length in 0..<bytes.count {
      #expect(fault(Array(bytes[..<length])) == damaged(length), "\(length)")
    }
  }

  @Test(.holds("Files"))
  func `nothing in the whole part is taken for torn`() {
    let base = change(1, [1: [1], 2: [2]])
    let bytes = JournalFormat.header(whole: Int64(24 + base.count)) + base
    for index in 24..<bytes.count {
      var flipped = bytes
      flipped[index] ^= 1
      #expect(fault(flipped) == damaged(index < 53 ? 24 : 53), "\(index)")
    }
  }

  @Test func `a header that says nonsense with the right checksum is refused`() {
    let base = change(1, [1: [1], 2: [2]])
    let size = 24 + base.count
    for whole in [.min, -1, 0, 23, 24, 51] as [Int64] {
      #expect(fault(JournalFormat.header(whole: whole) + base) == damaged(8), "\(whole)")
    }
    for whole in [52, 53, 54, size - 1] {
      let bytes = JournalFormat.header(whole: Int64(whole)) + base
      #expect(fault(bytes) == damaged(24), "\(whole)")
    }
    for whole in [Int64(size) + 1, 1 << 31, 1 << 32, .max] {
      #expect(fault(JournalFormat.header(whole: whole) + base) == damaged(size), "\(whole)")
    }
  }

  @Test func `the whole part can have several changes`() throws {
    let base = change(1, [1: [1]]) + change(2, [2: [2]])
    let bytes = JournalFormat.header(whole: Int64(24 + base.count)) + base
    #expect(try rows(bytes).version == 2)
    var flipped = bytes
    flipped[bytes.count - 1] ^= 1
    #expect(fault(flipped) == damaged(bytes.count - 29))
  }

  // MARK: The tail

  @Test(.holds("Files"))
  func `a torn change is cut off with all of its rows`() throws {
    let start = file(change(1, [1: [1]]))
    let torn = change(2, [1: [2], 2: [2], 3: [3]])
    for length in 0..<torn.count {
      let reader = try read(start + torn[..<length]).get()
      #expect(reader.rows == HistoryRows(version: 1, rows: [1: [1]]), "\(length)")
      #expect(reader.end == Int64(start.count))
    }
  }

  @Test(.holds("Files"))
  func `pages of the last change that were lost are torn, and pages before it damage`() throws {
    let start = file(change(1, [1: [1]]))
    let last = change(2, [1: [2], 2: [2], 3: [3]])
    for lost in [0..<28, 0..<40, 30..<60, 10..<last.count, 0..<last.count] {
      var torn = last
      for index in lost { torn[index] = 0 }
      #expect(try read(start + torn).get().end == Int64(start.count))
      for later in [change(3, [4: [4]]), Array(change(3, [4: [4]]).dropLast())] {
        guard case .damaged(let offset) = fault(start + torn + later) else {
          Issue.record("\(lost)")
          continue
        }
        #expect((start.count..<start.count + last.count).contains(Int(offset)))
      }
    }
  }

  @Test(.holds("Files"))
  func `a torn row that has a whole one in it is torn all the same`() throws {
    let start = file(change(1, [1: [1]]))
    let inner = change(2, [1: [2]]) + change(3, [1: [3]])
    let torn = change(2, [1: inner + [UInt8](repeating: 0, count: 40)]).dropLast(3)
    #expect(try rows(start + torn).version == 1)
  }

  @Test func `zeros behind the last change are a torn tail, up to a limit`() throws {
    let start = file(change(1, [1: [1]]))
    #expect(try rows(start + [UInt8](repeating: 0, count: 1 << 16)).version == 1)
    #expect(
      fault(start + [UInt8](repeating: 0, count: 1 << 24 + 1)) == damaged(start.count))
  }

  @Test func `a change of a wrong version is damage`() {
    let start = file(change(5, [1: [1]]))
    for version in [0, 4, 5, 7, .max] as [Int64] {
      #expect(fault(start + change(version, [1: [2]])) == damaged(start.count))
      #expect(fault(start + change(version, [1: [2]]).dropLast()) == damaged(start.count))
    }
    var mixed: [UInt8] = []
    JournalFormat.append((1, [2]), version: 6, isLast: false, to: &mixed)
    let offset = start.count + mixed.count
    JournalFormat.append((2, [2]), version: 7, isLast: true, to: &mixed)
    #expect(fault(start + mixed) == damaged(offset))
  }

  @Test func `rows that no journal writes are refused`() {
    let start = file(change(1, [1: [1]]))
    // The marks of a row that goes and of no row, both, and lengths with them.
    for size in [0xe000_0000, 0xc000_0001, 0xa000_0001, 0x9000_0001] as [UInt32] {
      var header = bytes(of: size) + bytes(of: crc32c([7])) + bytes(of: 1 as Int64)
      header += bytes(of: 2 as Int64)
      let row = header + bytes(of: crc32c(header)) + [7]
      #expect(fault(start + row + change(3, [:])) == damaged(start.count), "\(size)")
    }
    // No row, and then one.
    var none: [UInt8] = []
    JournalFormat.append(nil, version: 2, isLast: false, to: &none)
    #expect(fault(start + none + change(2, [1: [1]])) == damaged(start.count))
    var negative = Array(change(2, [1: [2]]).prefix(24))
    negative[15] = 0x80
    negative += bytes(of: crc32c(negative)) + [2]
    #expect(fault(start + negative + change(3, [:])) == damaged(start.count))
  }

  // MARK: Hostile bytes

  /// A file of which only the beginning has bytes. Counts those that are asked for.
  private final class Holes {
    let bytes: [UInt8]
    private(set) var asked = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func load(_ offset: Int64, _ count: Int) -> [UInt8] {
      asked += count
      let there = offset < bytes.count ? Array(bytes.dropFirst(Int(offset)).prefix(count)) : []
      return there + [UInt8](repeating: 0, count: count - there.count)
    }
  }

  @Test(.holds("Damage"))
  func `a terabyte of holes is refused at the first one`() {
    let start = file(change(1, [1: [1]]))
    var claim = Array(change(2, [1: [1]]).prefix(24))
    claim[0..<4] = [0, 0, 0x10, 0]
    claim += bytes(of: crc32c(claim))
    let base = change(1, [1: [1]])
    let whole = JournalFormat.header(whole: 1 << 40) + base
    for (bytes, offset, limit) in [
      (start, start.count, 1 << 20), (start + claim, start.count, 1 << 22),
      (whole, whole.count, 1 << 20), (JournalFormat.header(whole: 1 << 40), 24, 1 << 20),
    ] {
      let holes = Holes(bytes)
      let fault = #expect(throws: JournalFault.self) {
        try JournalReader(ByteWindow(1 << 40, holes.load))
      }
      #expect(fault == damaged(offset))
      #expect(holes.asked <= limit)
    }
  }

  @Test func `a window moves forward and back, and ends with the file`() throws {
    let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    var window = ByteWindow(600_000) { offset, count in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    for (offset, count) in [
      (0, 10), (262_140, 10), (262_144, 262_144), (599_990, 100), (599_999, 1), (600_000, 5),
      (700_000, 5), (5, 300), (0, 0),
    ] {
      let expected = Array(bytes.dropFirst(offset).prefix(count))
      #expect(try Array(window.bytes(upTo: count, at: Int64(offset))) == expected, "\(offset)")
    }
    for count in [0, 1, 300_000, 599_999] {
      let expected = Array(bytes.dropFirst(1).prefix(count))
      #expect(try window.all(count, at: 1) == expected)
      #expect(try window.checksum(of: count, at: 1) == Checksum.of(expected[...]))
    }
  }
}
