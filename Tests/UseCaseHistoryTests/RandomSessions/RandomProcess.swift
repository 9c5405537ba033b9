import TestSupport
import UseCase

@testable import UseCaseHistory

/// Where the actions of a page wait for what is to become of them.
final class RandomStage: Sendable {
  enum Order {
    case succeed, fail, lose
    case inside(@Sendable () async -> Void)
  }

  let begun = Watched(0)
  let done = Watched(0)
  let succeeded = Log<String>()
  private let orders = Watched<[Order]>([])

  func act(_ action: String) async throws {
    begun.update { $0 += 1 }
    while true {
      await orders.wait { !$0.isEmpty }
      switch orders.update({ $0.removeFirst() }) {
      case .succeed: return succeeded.append(action)
      case .fail: throw Failure(action)
      case .lose: throw HistoryObsolete(Failure(action))
      case .inside(let body):
        await body()
        done.update { $0 += 1 }
      }
    }
  }

  func order(_ order: Order) { orders.update { $0.append(order) } }
}

/// A process of a random session, as far as it has been compared.
struct RandomProcess {
  let page: Page
  let stage = RandomStage()
  /// How much of the logs has been compared: they only grow.
  var compared = (page: 0, actions: 0)
  /// How many discards there were, and how many lines of the log, when they were compared last.
  var discards = (expected: -1, log: -1)
  /// How many of the actions are in the document.
  var taken = 0

  /// The next process finds the document as it is.
  init(after last: Self? = nil, hadEffect: Bool = false) {
    page = Page(lastResponse: last?.page.lastResponse ?? 0)
    page.hadEffect.update { $0 = hadEffect }
    page.direct { [stage] in try await stage.act($0) }
  }
}

/// The names of the edits that have an effect on each key, in the order of the effects.
struct RandomDocument {
  /// The keys that an edit with this name touches.
  var keys: [String: Set<Character>] = [:]
  private var names: [Character: [String]] = [:]

  subscript(key: Character) -> [String] { names[key] ?? [] }

  /// Takes the actions that have succeeded. The log tells an answer behind the name.
  mutating func take(_ actions: some Sequence<String>) {
    for action in actions {
      let words = action.split(separator: " ")
      let isUndo = words[0] == "undo"
      var name = words[1]
      if words[0] != "do" { while name.last?.isNumber == true { name.removeLast() } }
      for key in keys[String(name)] ?? [] {
        if isUndo {
          names[key]?.removeAll { $0 == name }
        } else {
          names[key, default: []].append(String(name))
        }
      }
    }
  }
}

extension RandomSession {
  /// The process ends in the midst of what runs, and the next one opens the journal.
  func reopen(_ reopening: Reopening) async throws {
    // An undo of a group is carried on, and a redo waits: the tests of the recovery look at both.
    // A half undone group below an interrupted one is interrupted, too: the reference knows no such.
    guard let disk, !reference.isMovingGroups, !reference.isInGroupOverHalf else { return }
    await history.lane.journal?.settleAll(history.lane)
    disk.kill()
    let isActing = reference.isActing
    let hadEffect = isActing && reopening.hadEffect
    // Nobody hears how it has ended, and nothing begins behind it.
    if isActing { process.stage.order(hadEffect ? .succeed : .fail) }
    (groups, operations, points) = ([:], [:], [])
    await history.idle()
    endProcess()
    let actions = reference.reopen(
      hadEffect: hadEffect, keepsGroups: reopening.keepsGroups, reopening.verdicts)
    process = RandomProcess(after: process, hadEffect: hadEffect)
    for index in actions.indices {
      let verdict = index < reopening.verdicts.count ? reopening.verdicts[index] : .success
      process.stage.order(
        verdict == .failure ? .fail : verdict == .obsolete ? .lose : .succeed)
    }
    try await open(disk.next(), reopening.keepsGroups ? .keep : .compensate)
    try check(isActing ? 1 : 0, process.page.doubts.value, "doubts")
    try check(nil, history.journalError.map { "\($0)" }, "journal")
  }
}

// MARK: - In a journal

extension Page {
  /// Whether the body that the end of the process has interrupted had had its effect.
  fileprivate func settle() -> Bool {
    doubts.update { $0 += 1 }
    return hadEffect.value
  }
}

extension Answer: Codable {
  init(from decoder: any Decoder) throws {
    self.init(number: try decoder.singleValueContainer().decode(Int.self), token: nil)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

extension Edit: JournaledUseCase {
  static let journalName = "edit"

  func settle(
    _ doubt: HistoryDoubt<String, Answer>
  ) async throws -> HistorySettlement<Answer> {
    page.settle() ? .hadEffect(Answer(number: page.lastResponse, token: nil)) : .hadNoEffect
  }
}

extension Typing: JournaledUseCase {
  static let journalName = "typing"

  func settle(_ doubt: HistoryDoubt<String, Int>) async throws -> HistorySettlement<Int> {
    page.settle() ? .hadEffect(page.lastResponse) : .hadNoEffect
  }
}
