/// A fact that is appended. (A tuple of these two is copied by a function of the runtime.)
struct NumberedFact: Sendable {
  let number: UInt64
  let fact: HistoryFact
}

/// The facts of a record.
///
/// Appended facts have numbers, which grow. After a failed append a fact is appended again,
/// although it may have been written, and its number tells. Facts of a journal written anew have no
/// numbers.
enum FactRecord {
  private static let version = HistoryFactNumbers.recordVersion

  static func bytes(of facts: some Collection<HistoryFact>) -> [UInt8] {
    var writer = FactWriter()
    writer.byte(version)
    writer.flag(false)
    for fact in facts { fact.write(to: &writer) }
    return writer.bytes
  }

  static func bytes(of facts: [NumberedFact]) -> [UInt8] {
    var (writer, last) = (FactWriter(), UInt64(0))
    writer.byte(version)
    writer.flag(true)
    for index in facts.indices {
      writer.number(facts[index].number - last)
      last = facts[index].number
      facts[index].fact.write(to: &writer)
    }
    return writer.bytes
  }

  /// Calls `body` with each fact, and its number if it has one.
  ///
  /// - Throws: The error of `body`. `HistoryFact.Malformed` says where its fact begins.
  static func read(
    _ bytes: [UInt8], _ body: (UInt64?, HistoryFact) throws -> Void
  ) throws {
    var (reader, number, offset) = (FactReader(bytes), UInt64(0), 0)
    do {
      let version = try reader.byte()
      guard version == Self.version else {
        throw HistoryFact.Malformed("No record has the version \(version).")
      }
      let isNumbered = try reader.flag()
      while !reader.isAtEnd {
        offset = reader.offset
        if isNumbered { number += try reader.number() }
        guard number < 1 << 62 else { throw HistoryFact.Malformed("A fact has a number too high.") }
        try body(isNumbered ? number : nil, HistoryFact(from: &reader))
      }
    } catch var error as HistoryFact.Malformed {
      error.offset = offset
      throw error
    }
  }
}
