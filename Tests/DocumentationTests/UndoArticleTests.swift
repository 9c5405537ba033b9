import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The code of “Undo that survives failure”.
@Suite(.mustEnd)
@MainActor
struct UndoArticleTests {
  private let shelf = Shelf()
  private let history = UseCaseHistory()
  private let list = List()
  private var rename: RecordedUseCase<Renaming> { Renaming(shelf: shelf).recorded(in: history) }

  @Test func `an undo that fails can be tried again`() async {
    await rename.execute("Report").ended()
    await shelf.refuse(["Untitled"])
    @discardableResult func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
      history.undo().catch { error in
        list.show("Not undone: \(error). Try again.")
      }
    }
    await undo().ended()
    #expect(list.shown == ["Not undone: Refused(). Try again."])
    #expect(history.state.undoCount == 1)
    await shelf.refuse([])
    await undo().ended()
    #expect(await shelf.title == "Untitled")
  }

  @Test(arguments: [true, false])
  func `an early undo targets the entry that is on its way`(fails: Bool) async {
    let history = history
    await shelf.refuse(fails ? ["Report 2"] : [])
    let lane = rename.queue
    lane.suspend()
    rename.execute("Report")
    rename.execute("Report 2")
    let undo = history.undo().catch(HistoryError.self) { error in
      list.show(error)
    }

    lane.resume()
    await undo.ended()
    #expect(await shelf.title == "Report")
    #expect(list.shown == (fails ? [String(describing: HistoryError.outOfTurn)] : []))
  }

  @Test func `parts that a failed group could not undo can be undone later`() async {
    await shelf.refuse(["Draft 2", "Untitled"])
    let (history, rename, list) = (history, rename, list)
    await history.group("Tidy up") {
      _ = try await rename("Draft")
      _ = try await rename("Draft 2")
    }
    .catch(HistoryGroupError.self) { error in
      list.show(error)  // A part couldn't be undone. Try it again later.
    }
    .ended()
    #expect(list.shown.count == 1 && list.shown[0].hasSuffix("Undo the rest later."))
    #expect(history.entries.map(\.title) == ["Tidy up"])
    await shelf.refuse([])
    await history.undo().ended()
    #expect(await shelf.title == "Untitled")
  }

  @Test func `a hidden item is deleted when no undo can bring it back`() async {
    let delete = Delete(shelf: shelf).recorded(in: history)
    await shelf.add(["a", "b"])
    await delete.execute("a").ended()
    await history.undo().ended()
    await delete.execute("b").ended()
    #expect(await shelf.visible == ["a"])
    history.clear()
    await shelf.asked.elements(atLeast: 2)
    #expect(await shelf.all == ["a"])
  }

  @Test func `an item that is hidden again can be brought back again`() async {
    let delete = Delete(shelf: shelf).recorded(in: history)
    await shelf.add(["a", "b"])
    await delete.execute("a").ended()
    await history.undo().ended()
    await delete.execute("a").ended()
    await shelf.asked.elements(atLeast: 1)
    #expect(await shelf.visible == ["b"])
    await history.undo().ended()
    #expect(await shelf.visible == ["a", "b"])
  }

  @Test func `a deletion is undone by its own button after later changes`() async {
    let screen = Screen(shelf: shelf, history: history)
    await shelf.add(["a", "b"])
    screen.remove("a")
    let deletion = await screen.snackbar.shown.elements(atLeast: 1)[0].deletion
    await history.execute(MarkAsFavorite(shelf: shelf), "b").ended()
    await history.execute(MarkAsFavorite(shelf: shelf), "a").ended()
    screen.tapUndo(deletion)
    await screen.list.log.elements(atLeast: 1)
    await history.undo().ended()
    screen.tapUndo(deletion)
    await history.idle()
    #expect(await shelf.visible == ["a", "b"])
    #expect(screen.snackbar.shown.elements.map(\.text) == ["Deleted a"])
    #expect(screen.list.shown.count == 1)
  }

  @Test func `a panel shows what blocks each step`() async {
    let model = HistoryModel(history)
    await shelf.add(["a", "b"])
    await history.execute(Delete(shelf: shelf), "a").ended()
    await history.execute(Delete(shelf: shelf), "b").ended()
    await history.execute(MarkAsFavorite(shelf: shelf), "a").ended()
    #expect(rows(of: model).map(\.blockers) == [["MarkAsFavorite"], [], []])
    #expect(rows(of: model).map(\.entry) == history.entries)

    let deletion = history.entries[0].id
    let selection = Selection()
    let undo = history.undo(deletion).catch(HistoryError.self) { error in
      if case .blocked(let later) = error { selection.select(later) }
    }
    await undo.ended()
    #expect(selection.selected == [history.entries[2].id])
  }

  @Test func `what is gone for good leaves the list`() async throws {
    await history.execute(MarkAsFavorite(shelf: shelf), "a").ended()
    await history.execute(SafeMark(shelf: shelf), "b").ended()
    await shelf.add(["a"])
    guard case .failure(let error) = await history.undo().ended() else {
      Issue.record("it is gone")
      return
    }
    #expect(error is HistoryObsolete && history.entries.count == 1)
    #expect(try await history.undo().ended().get()?.title == "MarkAsFavorite")
  }

  @Test func `letters merge into words`() async throws {
    let history = UseCaseHistory(clock: ManualClock())
    let type = TypeText(shelf: shelf).recorded(in: history)
    for letter in ["o", "h", " ", "n", "o"] { await type.execute(letter).ended() }
    #expect(history.state.undoCount == 2)
    await history.undo().ended()
    #expect(await shelf.text == "oh")

    await history.idle()
    let point = history.savePoint()
    try await shelf.save()
    history.markSaved(point)
    #expect(history.state.isClean)
    await type.execute("!").ended()
    #expect(!history.state.isClean)
  }
}

private struct Refused: Error {}

private struct Renaming: UndoableUseCase {
  let shelf: Shelf

  func main(_ title: String) async throws -> String { try await shelf.rename(to: title) }
  func undo(_ title: String, _ old: String) async throws { _ = try await shelf.rename(to: old) }
}

struct Delete: UndoableUseCase {
  let shelf: Shelf

  func main(_ title: String) async throws -> Int {
    try await shelf.hide(title)
  }

  func undo(_ title: String, _: Int) async throws {
    try await shelf.show(title)
  }

  func footprint(of title: String, _: Int) -> HistoryFootprint {
    .keys(title)
  }

  func discard(_ title: String, _ number: Int, _: HistoryDiscardReason) {
    Task { await shelf.delete(title, ifHiddenBy: number) }
  }
}

struct MarkAsFavorite: UndoableUseCase {
  let shelf: Shelf

  func main(_ title: String) async throws { await shelf.favor(title) }
  func undo(_ title: String, _: Void) async throws {
    await shelf.disfavor(title)
  }
  func footprint(of title: String, _: Void) -> HistoryFootprint {
    .keys(title)
  }
}

private struct SafeMark: UndoableUseCase {
  let shelf: Shelf

  func main(_ title: String) async throws { await shelf.favor(title) }

  func undo(_ title: String, _: Void) async throws {
    guard await shelf.contains(title) else { throw HistoryObsolete() }
    await shelf.disfavor(title)
  }
}

@MainActor
private struct Screen {
  let history: UseCaseHistory
  let delete: RecordedUseCase<Delete>
  let snackbar = Snackbar()
  let list = List()

  init(shelf: Shelf, history: UseCaseHistory) {
    self.history = history
    delete = Delete(shelf: shelf).recorded(in: history)
  }

  func remove(_ title: String) {
    let deletion = delete.execute(title)
    deletion.then { _ in
      guard let entry = history.entry(of: deletion.id) else { return }
      snackbar.show("Deleted \(title)", undo: entry.id)
    }
  }

  func tapUndo(_ deletion: HistoryEntry.ID) {
    history.undo(deletion).catch { error in list.show(error) }
  }
}

struct HistoryRow: Equatable {
  let entry: HistoryEntry
  let blockers: [String]
}

@MainActor
func rows(of model: HistoryModel) -> [HistoryRow] {
  let titles = Dictionary(
    uniqueKeysWithValues: model.entries.map { ($0.id, $0.title) })
  return model.entries.map { entry in
    let blockers = model.blockers(of: entry.id).compactMap { titles[$0] }
    return HistoryRow(entry: entry, blockers: blockers)
  }
}

@MainActor
private final class Snackbar {
  let shown = Log<(text: String, deletion: HistoryEntry.ID)>()

  func show(_ text: String, undo deletion: HistoryEntry.ID) { shown.append((text, deletion)) }
}

@MainActor
private final class Selection {
  private(set) var selected: [HistoryEntry.ID] = []

  func select(_ entries: [HistoryEntry.ID]) { selected = entries }
}

struct TypeText: UndoableUseCase {
  let shelf: Shelf

  func main(_ text: String) async throws {
    await shelf.append(text)
  }

  func undo(_ text: String, _: Void) async throws {
    await shelf.removeLast(text.count)
  }

  func merge(
    _ earlier: (request: String, response: Void),
    _ later: (request: String, response: Void)
  ) -> HistoryMerge<String, Void> {
    if later.request == " " { return .separate }
    return .merged(earlier.request + later.request, ())
  }
}

actor Shelf {
  private(set) var title = "Untitled"
  private(set) var text = ""
  private(set) var all: Set<String> = []
  private var hidden: [String: Int] = [:]
  private var lastNumber = 0
  private var refused: Set<String> = []
  nonisolated let asked = Log<String>()

  var visible: Set<String> { all.subtracting(hidden.keys) }

  func refuse(_ titles: Set<String>) { refused = titles }

  func rename(to title: String) throws -> String {
    if refused.contains(title) { throw Refused() }
    defer { self.title = title }
    return self.title
  }

  func add(_ titles: Set<String>) { all = titles }
  func hide(_ title: String) throws -> Int {
    lastNumber += 1
    hidden[title] = lastNumber
    return lastNumber
  }
  func show(_ title: String) throws { hidden[title] = nil }
  func delete(_ title: String, ifHiddenBy number: Int) {
    if hidden[title] == number { all.remove(title) }
    asked.append(title)
  }

  private(set) var favorites: Set<String> = []
  func favor(_ title: String) { favorites.insert(title) }
  func disfavor(_ title: String) { favorites.remove(title) }
  func contains(_ title: String) -> Bool { all.contains(title) }

  func append(_ text: String) { self.text += text }
  func removeLast(_ count: Int) { text.removeLast(count) }
  func save() throws {}
}

@MainActor
private final class List {
  let log = Log<String>()
  var shown: [String] { log.elements }

  func show(_ content: Any) { log.append("\(content)") }
}
