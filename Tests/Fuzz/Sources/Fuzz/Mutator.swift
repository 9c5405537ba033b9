import Dice
import LibFuzzer
import UseCaseHistory

@testable import UseCaseJournal

/// Changes a journal: its bytes, or its rows, of which it makes a file with the right checksums.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ longest: Int, _ seed: UInt32
) -> Int {
  var mutator = Mutator(dice: Dice(state: UInt64(seed)))
  let file = Array(UnsafeBufferPointer(start: data, count: size))
  guard Int.random(in: 0..<10, using: &mutator.dice) > 0, let new = mutator.changed(file),
    new.count <= longest
  else { return LLVMFuzzerMutate(data, size, longest) }
  for (index, byte) in new.enumerated() { data[index] = byte }
  return new.count
}

/// The rows of a file, as far as they can be read.
func rows(of file: [UInt8]) -> HistoryRows? {
  let window = ByteWindow(Int64(file.count)) { offset, count in
    Array(file.dropFirst(Int(offset)).prefix(count))
  }
  return try? JournalReader(window).rows
}

struct Mutator {
  var dice: Dice

  mutating func changed(_ file: [UInt8]) -> [UInt8]? {
    guard let found = rows(of: file) else { return nil }
    var rows = found.rows
    for _ in 0...Int.random(in: 0..<3, using: &dice) { change(&rows) }
    var bytes: [UInt8] = []
    for (index, row) in rows.sorted(by: { $0.key < $1.key }).enumerated() {
      let isLast = index == rows.count - 1
      JournalFormat.append((row.key, row.value), version: 7, isLast: isLast, to: &bytes)
    }
    if rows.isEmpty { JournalFormat.append(nil, version: 7, isLast: true, to: &bytes) }
    return JournalFormat.header(whole: Int64(JournalFormat.headerSize + bytes.count)) + bytes
  }

  private mutating func change(_ rows: inout [Int64: [UInt8]]) {
    let keys = rows.keys.sorted()
    guard let key = keys.randomElement(using: &dice), let other = keys.randomElement(using: &dice)
    else {
      rows[Int64.random(in: 0..<4, using: &dice)] = [.random(in: 0..<10, using: &dice)]
      return
    }
    switch Int.random(in: 0..<8, using: &dice) {
    case 0: rows[key] = nil
    case 1: rows[other] = rows[key]
    case 2: (rows[key], rows[other]) = (rows[other], rows[key])
    case 3: rows[key == .max ? 0 : key + 1] = rows[other]
    case 4: rows[.random(in: 0 ... .max, using: &dice)] = rows[key]
    default: rows[key] = altered(rows[key] ?? [])
    }
  }

  /// Changes a byte at the beginning of a row, where its numbers are, or anywhere.
  private mutating func altered(_ row: [UInt8]) -> [UInt8] {
    guard !row.isEmpty else { return [.random(in: .min ... .max, using: &dice)] }
    let count = Bool.random(using: &dice) ? min(row.count, 40) : row.count
    let index = Int.random(in: 0..<count, using: &dice)
    var row = row
    switch Int.random(in: 0..<7, using: &dice) {
    case 0: row[index] = .random(in: 0...30, using: &dice)
    case 1: row[index] &+= Bool.random(using: &dice) ? 1 : 255
    case 2: row[index] = .random(in: .min ... .max, using: &dice)
    case 3: row.insert(contentsOf: [UInt8](repeating: 0xff, count: 7), at: index)
    case 4: row.remove(at: index)
    case 5: row.removeLast(row.count - index)
    default: row.insert(row[index], at: Int.random(in: 0..<row.count, using: &dice))
    }
    return row
  }
}
