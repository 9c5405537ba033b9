import Dice
import Foundation
import UseCaseHistory

@testable import UseCaseJournal

/// Reads journal files of hostile bytes: `FileFuzz 1000000` makes so many inputs, each from a file
/// that a journal may have written, and prints how many were refused. The second argument is a seed.
///
/// What is read is written to a file anew, and read again: the rows have to be the same. An input of
/// a megabyte takes less than a second, and less than twenty times its bytes.
@main
struct FileFuzz {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
    var fuzz = FileFuzz(dice: Dice(state: arguments.dropFirst().first ?? 1))
    for _ in 0..<(arguments.first ?? 1_000_000) { fuzz.tryOne() }
    print("\(fuzz.opened) opened, \(fuzz.torn) of them torn, \(fuzz.refused) refused")
    for kind in Megabyte.allCases { try kind.measure(&fuzz.dice) }
  }

  private var dice: Dice
  private var (opened, torn, refused) = (0, 0, 0)

  private init(dice: Dice) { self.dice = dice }

  private mutating func tryOne() {
    var file = sound()
    for _ in 0..<Int.random(in: 0..<4, using: &dice) { spoil(&file) }
    guard let reader = Self.read(file) else {
      refused += 1
      return
    }
    opened += 1
    if reader.end < Int64(file.count) { torn += 1 }
    // What is in front of the end is the same without the rest, and all of it can be written.
    let front = Self.read(Array(file.prefix(Int(reader.end))))
    let anew = Self.read(Self.file(reader.rows))
    for rows in [front?.rows, anew?.rows] {
      guard rows?.version == reader.rows.version, rows?.rows == reader.rows.rows else {
        fatalError("read as \(reader.rows), then as \(String(describing: rows)): \(file)")
      }
    }
    if reader.rows.version < 0 || reader.rows.rows.keys.contains(where: { $0 < 0 }) {
      fatalError("nonsense is read: \(reader.rows)")
    }
  }

  /// Reads the bytes, and looks whether all of the errors are those of a journal.
  private static func read(_ file: [UInt8]) -> JournalReader? {
    do {
      return try JournalReader(
        ByteWindow(Int64(file.count)) { offset, count in
          Array(file.dropFirst(Int(offset)).prefix(count))
        })
    } catch JournalFault.damaged(let offset) where 0...Int64(file.count) ~= offset {
      return nil
    } catch JournalFault.foreign {
      return nil
    } catch {
      fatalError("\(error)")
    }
  }

  // MARK: Files

  private static func file(_ rows: HistoryRows) -> [UInt8] {
    let changes = change(rows.version, rows.rows.map { ($0, $1) })
    let size = JournalFormat.headerSize + changes.count
    return JournalFormat.header(whole: Int64(size)) + changes
  }

  fileprivate static func change(_ version: Int64, _ rows: [(Int64, [UInt8]?)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, row) in rows.enumerated() {
      let isLast = index == rows.count - 1
      JournalFormat.append(row, version: version, isLast: isLast, to: &bytes)
    }
    if rows.isEmpty { JournalFormat.append(nil, version: version, isLast: true, to: &bytes) }
    return bytes
  }

  /// A file that a journal may have written, at times with a header or a change that it would not.
  private mutating func sound() -> [UInt8] {
    var version = number()
    let changes = (0...Int.random(in: 0..<6, using: &dice)).map { _ in
      defer { version = Int.random(in: 0..<20, using: &dice) == 0 ? number() : version &+ 1 }
      let rows: [(Int64, [UInt8]?)] = (0..<Int.random(in: 0..<5, using: &dice)).map { _ in
        (number(), Int.random(in: 0..<4, using: &dice) == 0 ? nil : bytes())
      }
      return Self.change(version, rows)
    }
    let whole = Int.random(in: 1...changes.count, using: &dice)
    let size = JournalFormat.headerSize + changes.prefix(whole).reduce(0) { $0 + $1.count }
    let isSound = Int.random(in: 0..<10, using: &dice) > 0
    return JournalFormat.header(whole: isSound ? Int64(size) : number()) + changes.joined()
  }

  private mutating func number() -> Int64 {
    switch Int.random(in: 0..<10, using: &dice) {
    case 0: Int64.random(in: .min ... .max, using: &dice)
    case 1: Int64.max - Int64.random(in: 0...2, using: &dice)
    case 2: 1 << Int64.random(in: 0...63, using: &dice)
    default: Int64.random(in: 0..<8, using: &dice)
    }
  }

  private mutating func bytes() -> [UInt8] {
    let longest = Int.random(in: 0..<10, using: &dice) == 0 ? 600 : 20
    let count = Int.random(in: 0...longest, using: &dice)
    if Int.random(in: 0..<10, using: &dice) == 0 { return Self.change(number(), [(number(), [1])]) }
    return (0..<count).map { _ in .random(in: .min ... .max, using: &dice) }
  }

  /// Damages a file, at times so that the checksums are right.
  private mutating func spoil(_ file: inout [UInt8]) {
    guard !file.isEmpty else { return file = bytes() }
    let index = Int.random(in: 0..<file.count, using: &dice)
    let end = min(file.count, index + Int.random(in: 0..<60, using: &dice))
    let other = Int.random(in: 0..<file.count, using: &dice)
    switch Int.random(in: 0..<9, using: &dice) {
    case 0: file[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
    case 1: file[index] = .random(in: .min ... .max, using: &dice)
    case 2: file.removeSubrange(index..<end)
    case 3: file.insert(contentsOf: file[index..<end], at: other)
    case 4: for index in index..<end { file[index] = 0 }
    case 5: file.removeLast(file.count - index)
    case 6: file += bytes()
    case 7: file += [UInt8](repeating: 0, count: .random(in: 0..<300, using: &dice))
    default: forge(&file, from: index)
    }
  }

  /// Changes a number in the header of a row, or of the file, and makes its checksum right.
  private mutating func forge(_ file: inout [UInt8], from index: Int) {
    var (start, size) = (0, JournalFormat.headerSize)
    if Bool.random(using: &dice) {
      let row = JournalFormat.rowHeaderSize
      guard
        let found = (index..<file.count).first(where: {
          $0 + row <= file.count && JournalFormat.Row(file[$0..<$0 + row]) != nil
        })
      else { return }
      (start, size) = (found, row)
    }
    guard start + size <= file.count else { return }
    let byte = start + Int.random(in: 0..<size - 4, using: &dice)
    file[byte] = Bool.random(using: &dice) ? 0xff : .random(in: .min ... .max, using: &dice)
    let checksum = Checksum.of(file[start..<start + size - 4])
    withUnsafeBytes(of: checksum.littleEndian) { checksum in
      file.replaceSubrange(start + size - 4..<start + size, with: checksum)
    }
  }
}

/// A megabyte of something, behind a sound beginning.
private enum Megabyte: CaseIterable {
  case zeros, noise, shortestRows, oneRow, sameRow, rowsThatGo, emptyChanges, torn, headersOfRows

  private func bytes(_ dice: inout Dice) -> [UInt8] {
    let size = 1 << 20
    let rows = Int64(size / JournalFormat.rowHeaderSize)
    return switch self {
    case .zeros: [UInt8](repeating: 0, count: size)
    case .noise: (0..<size).map { _ in .random(in: .min ... .max, using: &dice) }
    case .shortestRows: FileFuzz.change(1, (0..<rows).map { ($0, [1]) })
    case .oneRow: FileFuzz.change(1, [(1, [UInt8](repeating: 1, count: size))])
    case .sameRow: (1...rows).flatMap { FileFuzz.change($0, [(1, [])]) }
    case .rowsThatGo: FileFuzz.change(1, (0..<rows).map { ($0, nil) })
    case .emptyChanges: (1...rows).flatMap { FileFuzz.change($0, []) }
    case .torn: Array(FileFuzz.change(1, (0..<rows).map { ($0, [1]) }).dropLast())
    // Each could begin a change, and none does.
    case .headersOfRows:
      [0] + (1...rows).flatMap { _ in FileFuzz.change(1, [(1, [1])]).prefix(28) }
    }
  }

  /// Reads it from a file, and prints what that takes.
  func measure(_ dice: inout Dice) throws {
    let base = FileFuzz.change(0, [])
    let size = JournalFormat.headerSize + base.count
    let file = JournalFormat.header(whole: Int64(size)) + base + bytes(&dice)
    let url = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID()).journal")
    try Data(file).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let journal = try JournalFile(opening: JournalPath(url))
    defer { journal.release() }
    // The most memory is then what there is now.
    try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    let (clock, before) = (ContinuousClock(), Self.memory())
    var answer = ""
    let time = clock.measure {
      do {
        answer = "\(try journal.read(upTo: journal.size()).rows.rows.count) rows"
      } catch {
        answer = "refused"
      }
    }
    let memory = max(0, Self.memory() - before)
    print("\(self), \(file.count) bytes: \(answer), \(time), at most \(memory) bytes more")
    if time > .seconds(1) || memory > 20 * file.count { fatalError("\(self) takes too much.") }
  }

  /// The most memory that the process has had, on Linux.
  private static func memory() -> Int {
    let words = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = words.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropLast().last).flatMap { Int($0) }.map { $0 << 10 } ?? 0
  }
}
