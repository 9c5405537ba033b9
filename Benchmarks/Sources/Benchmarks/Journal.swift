import Foundation
import UseCase
import UseCaseHistory
import UseCaseJournal

extension Scenario {
  /// An execution in a history that has a journal, and in one that has none.
  static let journal = Scenario(
    name: "history with a journal",
    rounds: 9,
    contestants: [
      contestant("without a journal", isBare: true, 1_000) { _ in UseCaseHistory(limit: 1_000) },
      contestant("FileJournal(.process)", 1_000) { try await open($0, .process, limit: 1_000) },
      contestant("FileJournal(.power)", 50) { try await open($0, .power, limit: 1_000) },
    ])

  /// The same, if all are executed at once.
  static let journalBurst = Scenario(
    name: "burst with a journal",
    rounds: 9,
    contestants: [
      burst("at once, without a journal", isBare: true) { _ in UseCaseHistory() },
      burst(
        "at once, FileJournal(.process)",
        target: .atMost(4, of: "at once, without a journal")
      ) { try await open($0, .process) },
    ])

  private static func burst(
    _ name: String, isBare: Bool = false, target: Target? = nil,
    _ make: @escaping @Sendable (Folder) async throws -> UseCaseHistory
  ) -> Contestant {
    Contestant(name: name, isBare: isBare, target: target) { scale in
      let count = scale(5_000)
      return wait {
        let folder = try Folder()
        let history = try await make(folder)
        let useCase = Stored().recorded(in: history)
        let start = ContinuousClock.now
        for operation in (0..<count).map({ useCase.execute($0) }) { _ = try await operation.value }
        return Double((ContinuousClock.now - start) / .nanoseconds(1))
      } / Double(count)
    }
  }

  /// The cost of opening a history, for each entry, and the bytes of the file.
  static let opening = Scenario(
    name: "opening a journal",
    rounds: 1,
    contestants: [1_000, 10_000, 100_000, 1_000_000].map { size in
      Contestant(
        name: "\(size.grouped) entries", target: size == 100_000 ? .cost(10_000) : nil
      ) { scale in
        let count = scale(size)
        return wait { try await filled(count) { folder in try await openingTime(folder) } }
          / Double(count)
      }
    })

  static let journalBytes = Scenario(
    name: "bytes of a journal, for each entry",
    unit: .bytes,
    rounds: 3,
    contestants: [
      Contestant(name: "request and response, as JSON", isBare: true) { scale in
        let coder = JSONHistoryCoder()
        let values = try? coder.encode(1_000_000) + coder.encode(2_000_000)
        return Double(values?.count ?? 0)
      },
      Contestant(name: "journal just opened", target: .cost(60)) { scale in
        let count = scale(10_000)
        return wait {
          try await filled(count) { folder in
            _ = try await openingTime(folder)
            return Double(try size(of: folder))
          }
        } / Double(count)
      },
      Contestant(name: "largest journal, limit of 1,000") { scale in
        let count = scale(20_000)
        return wait {
          let folder = try Folder()
          let history = try await open(folder, .process, limit: min(count, 1_000))
          var most = 0
          for _ in 0..<20 {
            await history.fillAndWait(count / 20)
            most = max(most, try size(of: folder))
          }
          return Double(most)
        } / Double(min(count, 1_000))
      },
    ])

  private static func contestant(
    _ name: String, isBare: Bool = false, _ count: Int,
    _ make: @escaping @Sendable (Folder) async throws -> UseCaseHistory
  ) -> Contestant {
    Contestant(name: name, isBare: isBare) { scale in
      let count = scale(count)
      return wait {
        let folder = try Folder()
        let history = try await make(folder)
        let start = ContinuousClock.now
        await history.fillAndWait(count)
        return Double((ContinuousClock.now - start) / .nanoseconds(1))
      } / Double(count)
    }
  }

  private static func open(
    _ folder: Folder, _ durability: FileJournal.Durability, limit: Int? = nil
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(
      try FileJournal(at: folder.file, durability: durability), for: [Stored()], limit: limit)
  }

  private static func filled(
    _ count: Int, _ body: (Folder) async throws -> Double
  ) async throws -> Double {
    let folder = try Folder()
    do {
      let history = try await open(folder, .process)
      await history.fillAndWait(count)
      await history.idle()
    }
    return try await body(folder)
  }

  /// A journal that is about to go away may still hold the file.
  private static func openingTime(_ folder: Folder) async throws -> Double {
    while true {
      do {
        let start = ContinuousClock.now
        _ = try await open(folder, .process)
        return Double((ContinuousClock.now - start) / .nanoseconds(1))
      } catch let error as HistoryJournalError where error.reason == .inUse {
        await Task.yield()
      }
    }
  }

  private static func size(of folder: Folder) throws -> Int {
    try folder.file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
  }

  private static func wait(_ body: @escaping @Sendable () async throws -> Double) -> Double {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result = 0.0
    Task {
      do { result = try await body() } catch { fatalError("\(error)") }
      done.signal()
    }
    done.wait()
    return result
  }
}

private final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID())")
  var file: URL { url.appending(path: "undo.journal") }

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

private struct Stored: JournaledUseCase {
  static let journalName = "stored"
  func main(_ number: Int) async throws -> Int { twice(number) }
  func undo(_ number: Int, _ response: Int) async throws {}
}

extension UseCaseHistory {
  /// Executes so many, one after the other.
  fileprivate func fillAndWait(_ count: Int) async {
    let useCase = Stored().recorded(in: self)
    for number in 0..<count { _ = try? await useCase.execute(number).value }
  }
}
