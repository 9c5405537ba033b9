import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// Several tasks ask one history at once for changes of two documents, which are actors, while
/// another task saves the documents and compares them with its file whenever the history is clean.
@Suite(.mustEnd)
struct ManyAskersTests {
  /// The texts of the documents, and the moments at which something failed.
  private struct Scene {
    var texts = ["", ""]
    /// Grows with each change of a text.
    var version = 0
    var moment = 0
    var failures: [String: Int] = [:]
    var mistakes: [String] = []

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    mutating func write(_ words: String, to document: Int) {
      version += 1
      texts[document] += words
    }

    mutating func remove(_ words: String, from document: Int) {
      version += 1
      guard texts[document].hasSuffix(words) else {
        return mistakes.append("\(words) is not the end of document \(document)")
      }
      texts[document].removeLast(words.count)
    }
  }

  private actor Document {
    let number: Int
    let scene: Watched<Scene>

    init(_ number: Int, _ scene: Watched<Scene>) {
      self.number = number
      self.scene = scene
    }

    func change(_ change: (inout Scene, Int) -> Void) {
      scene.update { [number] in change(&$0, number) }
    }
  }

  private struct Text: Sendable {
    enum Trouble { case none, execution, redo }

    var words: String
    var trouble = Trouble.none
  }

  /// Not equatable, so that it merges only with copies of one that is recorded.
  private struct TypeText: UndoableUseCase {
    let document: Document

    func main(_ text: Text) async throws {
      await Task.yield()
      try fail(text, if: text.trouble == .execution)
      await document.change { $0.write(text.words, to: $1) }
      await Task.yield()
    }

    func undo(_ text: Text, _: Void) async throws {
      await document.change { $0.remove(text.words, from: $1) }
      await Task.yield()
    }

    func redo(_ text: Text, _: Void) async throws {
      await Task.yield()
      try fail(text, if: text.trouble == .redo)
      await document.change { $0.write(text.words, to: $1) }
    }

    func title(for text: Text) -> String { "\(document.number):\(text.words)" }

    func merge(
      _ earlier: (request: Text, response: Void), _ later: (request: Text, response: Void)
    ) -> HistoryMerge<Text, Void> {
      .merged(Text(words: earlier.request.words + later.request.words), ())
    }

    private func fail(_ text: Text, if fails: Bool) throws {
      guard fails else { return }
      document.scene.update { $0.failures[text.words] = $0.tick() }
      throw Failure(text.words)
    }
  }

  /// A request, and its result.
  private struct Ask: Sendable {
    enum Kind { case execution(title: String), undo, redo, move }

    let id: UseCaseOperationID
    let kind: Kind
    /// When it had been asked for.
    let moment: Int
    /// The entries that it recorded, undid or redid; nil if it failed.
    let entries: [HistoryEntry.ID]?
  }

  private let scene = Watched(Scene())
  private let history = UseCaseHistory(clock: ManualClock())

  private func ask<Request: Sendable, Response: Sendable>(
    _ kind: Ask.Kind, _ operation: UseCaseOperation<Request, Response>,
    _ entries: @escaping @Sendable (Response) -> [HistoryEntry.ID]
  ) -> Task<Ask, Never> {
    let moment = scene.update { $0.tick() }
    return Task {
      let entries = await operation.ended().value.map(entries)
      return Ask(id: operation.id, kind: kind, moment: moment, entries: entries)
    }
  }

  /// Asks for something by chance.
  private func step(
    _ name: String, _ edits: [RecordedUseCase<TypeText>], _ random: inout SeededGenerator
  ) -> Task<Ask, Never> {
    let document = Int.random(in: 0...1, using: &random)
    let edit = edits[document]
    let choice = Int.random(in: 0..<20, using: &random)
    switch choice {
    case 0..<9:
      let trouble: Text.Trouble = choice < 5 ? .none : choice < 8 ? .execution : .redo
      let operation = edit.execute(Text(words: name, trouble: trouble))
      return ask(.execution(title: "\(document):\(name)"), operation) {
        [HistoryEntry.ID(operation.id)]
      }
    case 9:
      let throwsAtEnd = Bool.random(using: &random)
      let operation = history.group("G") { [history] in
        try await history.group("N") { try await edit(Text(words: name)) }.value
        if throwsAtEnd { throw Failure(name) }
      }
      return ask(.execution(title: "G"), operation) {
        [HistoryEntry.ID(operation.id)]
      }
    case 10..<16: return ask(.undo, history.undo()) { $0.map { [$0.id] } ?? [] }
    case 16..<19: return ask(.redo, history.redo()) { $0.map { [$0.id] } ?? [] }
    default:
      return ask(.move, history.move(to: nil)) { $0.map(\.id) }
    }
  }

  /// Saves, and compares states and texts, until it is cancelled. Returns how often a clean history
  /// was compared.
  private func save() async -> Int {
    var file = scene.value.texts
    var comparisons = 0
    var last = history.state
    while !Task.isCancelled {
      let before = scene.value
      let point = history.savePoint()
      if before.version == scene.value.version {
        history.markSaved(point)
        file = before.texts
      }
      for _ in 0..<20 {
        await Task.yield()
        let before = scene.value
        let state = history.state
        if state.version == last.version, state != last {
          scene.update { $0.mistakes.append("\(last) and \(state) have one version") }
        }
        last = state
        guard state.isClean, before.version == scene.value.version else { continue }
        comparisons += 1
        guard before.texts != file else { continue }
        scene.update { $0.mistakes.append("clean, with \(file) saved and \(before.texts) there") }
      }
    }
    return comparisons
  }

  private func play(seed: UInt64, merging: Bool) async -> (asks: [Ask], comparisons: Int) {
    let saver = Task { await save() }
    let documents = [Document(0, scene), Document(1, scene)]
    let merged = documents.map { TypeText(document: $0).recorded(in: history) }
    let asks = await withTaskGroup(of: [Ask].self) { group in
      for asker in 1...4 {
        group.addTask {
          var random = SeededGenerator(seed: seed * 4 + UInt64(asker))
          var asks: [Task<Ask, Never>] = []
          for round in 1...40 {
            let edits =
              merging ? merged : documents.map { TypeText(document: $0).recorded(in: history) }
            asks.append(step("\(asker).\(round);", edits, &random))
            if Bool.random(using: &random) { _ = await asks.last?.value }
            if round.isMultiple(of: 8) { await history.idle() }
          }
          var ended: [Ask] = []
          for ask in asks { ended.append(await ask.value) }
          return ended
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    await history.idle()
    saver.cancel()
    return (asks.sorted { $0.id < $1.id }, await saver.value)
  }

  /// Follows what was asked for in the order of the lane.
  private func check(_ asks: [Ask], _ seed: UInt64) {
    var (applied, undone): ([HistoryEntry.ID], [HistoryEntry.ID]) = ([], [])
    let failures = scene.value.failures
    for (index, ask) in asks.enumerated() {
      guard let entries = ask.entries else { continue }
      for entry in entries {
        switch ask.kind {
        case .execution:
          applied.append(entry)
          undone = []
        case .undo, .redo, .move:
          if applied.last == entry {
            undone.append(applied.removeLast())
          } else if undone.last == entry {
            applied.append(undone.removeLast())
          } else {
            Issue.record("Seed \(seed): \(ask) took an entry that was not next.")
          }
        }
      }
      guard index > 0, case .undo = ask.kind, !entries.isEmpty,
        case .execution(let title) = asks[index - 1].kind, asks[index - 1].entries == nil,
        let failure = failures[String(title.dropFirst(2))], failure > ask.moment
      else { continue }
      Issue.record("Seed \(seed): an undo meant for \(title), which failed, took \(entries).")
    }
    #expect(history.entries.map(\.id) == applied + undone.reversed())
  }

  @Test func `with many askers, the order of the lane tells what each undo is for`() async {
    var comparisons = 0
    for seed in 1...30 as ClosedRange<UInt64> {
      let session = ManyAskersTests()
      let played = await session.play(seed: seed, merging: false)
      comparisons += played.comparisons
      session.check(played.asks, seed)
      session.compareTexts(seed)
    }
    #expect(comparisons > 0)
  }

  @Test func `with many askers, two documents never merge and a clean one is what was saved`() async
  {
    for seed in 1...30 as ClosedRange<UInt64> {
      let session = ManyAskersTests()
      _ = await session.play(seed: seed, merging: true)
      session.compareTexts(seed)
    }
  }

  /// The documents say what the applied entries say.
  private func compareTexts(_ seed: UInt64) {
    let scene = scene.value
    #expect(scene.mistakes.isEmpty, "seed \(seed)")
    let titles = history.entries.flatMap(\.appliedTitles)
    for document in 0...1 {
      let words = titles.filter { $0.hasPrefix("\(document):") }.map { $0.dropFirst(2) }
      #expect(scene.texts[document] == words.joined(), "seed \(seed)")
    }
  }
}

extension HistoryEntry {
  fileprivate var appliedTitles: [String] {
    guard children.isEmpty else { return children.flatMap(\.appliedTitles) }
    return isApplied ? [title] : []
  }
}
