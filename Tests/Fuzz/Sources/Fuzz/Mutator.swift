import LibFuzzer

@testable import UseCaseHistory
@testable import UseCaseJournal

/// Changes a journal: its bytes, or its facts, of which it makes records with the right checksums.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ longest: Int, _ seed: UInt32
) -> Int {
  var mutator = Mutator(random: Dice(state: UInt64(seed)))
  let file = Array(UnsafeBufferPointer(start: data, count: size))
  guard Int.random(in: 0..<10, using: &mutator.random) > 0, let new = mutator.changed(file),
    new.count <= longest
  else { return LLVMFuzzerMutate(data, size, longest) }
  for (index, byte) in new.enumerated() { data[index] = byte }
  return new.count
}

/// SplitMix64.
struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}

struct Mutator {
  var random: Dice

  /// The facts of a file, as far as they can be read: the whole history, and what came since.
  private struct Facts {
    var whole: [HistoryFact] = []
    var since: [HistoryFact] = []

    init?(_ file: [UInt8]) {
      guard case .records(let records, _) = JournalFormat.content(of: file) else { return nil }
      for record in records {
        try? FactRecord.read(Array(file[record])) { number, fact in
          if number == nil { whole.append(fact) } else { since.append(fact) }
        }
      }
    }

    var file: [UInt8] {
      let numbered = since.enumerated().map { NumberedFact(number: UInt64($0 + 1_000), fact: $1) }
      let records =
        (whole.isEmpty ? [] : [FactRecord.bytes(of: whole)])
        + (since.isEmpty ? [] : [FactRecord.bytes(of: numbered)])
      let size = JournalFormat.size(of: records) ?? 0
      return JournalFormat.header(whole: size) + records.flatMap { JournalFormat.frame($0) }
    }
  }

  mutating func changed(_ file: [UInt8]) -> [UInt8]? {
    guard var facts = Facts(file) else { return nil }
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      if Bool.random(using: &random) { change(&facts.whole) } else { change(&facts.since) }
    }
    return facts.file
  }

  private mutating func change(_ facts: inout [HistoryFact]) {
    guard let index = facts.indices.randomElement(using: &random),
      let other = facts.indices.randomElement(using: &random)
    else { return facts.append(.cleared) }
    switch Int.random(in: 0..<7, using: &random) {
    case 0: facts.remove(at: index)
    case 1: facts.insert(facts[index], at: other)
    case 2: facts.swapAt(index, other)
    case 3: facts.removeSubrange(min(index, other)..<max(index, other))
    case 4: facts.insert(contentsOf: facts[min(index, other)...max(index, other)], at: other)
    default:
      if let fact = altered(facts[index]) { facts[index] = fact }
    }
  }

  /// Changes one byte of the fact: its tag, an id, a number or a flag.
  private mutating func altered(_ fact: HistoryFact) -> HistoryFact? {
    var writer = FactWriter()
    fact.write(to: &writer)
    var bytes = writer.bytes
    let index = Int.random(in: 0..<min(bytes.count, 12), using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes[index] = .random(in: 0...30, using: &random)
    case 1: bytes[index] &+= Bool.random(using: &random) ? 1 : 255
    case 2: bytes[index] = .random(in: .min ... .max, using: &random)
    default: bytes.insert(contentsOf: Array(repeating: 0xff, count: 7), at: index)
    }
    var reader = FactReader(bytes + Array(repeating: 1, count: 16))
    return try? HistoryFact(from: &reader)
  }
}
