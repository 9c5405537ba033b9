import Dice
import Foundation
import UseCase
import UseCaseHistory

#if canImport(Glibc)
  import Glibc
#endif

/// Opens hostile rows: `RowFuzz 1000000 7` tries so many inputs, the first of this number, and prints
/// how many were refused. Then it opens megabytes of several kinds.
///
/// Each input depends on its number only. After ten faults it stops. After a trap, the number is between the last one that was
/// printed and that one plus 10,000.
@main
struct RowFuzz {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "open", let file = arguments.last {
      return try await Megabyte.open(URL(filePath: file), isKept: arguments.contains("keep"))
    }
    let numbers = arguments.compactMap { UInt64($0) }
    try await tryAll(numbers.first ?? 1_000_000, from: numbers.dropFirst().first ?? 1)
    var isGood = true
    for kind in Megabyte.allCases { isGood = try await kind.measure() && isGood }
    if !isGood { exit(1) }
  }

  private static func tryAll(_ count: UInt64, from first: UInt64) async throws {
    var (real, opened, refused, faults) = ([HistoryRows](), 0, 0, 0)
    var dice = Dice(state: 1)
    for _ in 1...100 { real += try await HostileRows.written(&dice) }
    for number in first..<first + count {
      if number.isMultiple(of: 10_000) {
        print(number)
        fflush(nil)
      }
      // An input that loops ends the process.
      alarm(60)
      var hostile = HostileRows(Dice(state: number &* 0x9e37), real: real)
      let rows = hostile.next()
      do {
        let isOpened = try await HostileSession.run(
          rows, number.isMultiple(of: 2) ? .keep : .compensate)
        if isOpened { opened += 1 } else { refused += 1 }
      } catch {
        print("\(number): \(error)\n\(rows.version) \(rows.rows.sorted { $0.key < $1.key })")
        faults += 1
        if faults == 10 { break }
      }
    }
    alarm(0)
    print("\(opened) opened, \(refused) refused, \(faults) faults")
    if faults > 0 { exit(1) }
  }
}
