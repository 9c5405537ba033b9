import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

@Suite(.mustEnd)
struct EntryOfExecutionTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Its entry"))
  func `an execution has its entry from the time it is recorded, in its own handlers`() async {
    let gate = page.hold("do A")
    let titles = Log<String?>()
    let operation = history.execute(Edit(page: page), "A")
    let id = operation.id
    operation.then { [history] _ in titles.append(history.entry(of: id)?.title) }
    await page.began("do A")
    #expect(history.entry(of: id) == nil)
    gate.open()
    await operation.ended()
    #expect(titles.elements == ["A"])
    #expect(history.entry(of: id)?.id == history.entries[0].id)
    await history.back(1)
    #expect(history.entry(of: id)?.isApplied == false)
    await history.run(page, "B")
    #expect(history.entry(of: id) == nil)
  }

  @Test(.holds("Its entry"))
  func `a failed execution and an undo have no entry, and a group has one`() async {
    page.fail("do A")
    let operation = history.execute(Edit(page: page), "A")
    await operation.ended()
    #expect(history.entry(of: operation.id) == nil)
    let group = history.group("G") { [edit = desk.edit] in _ = try await edit("b") }
    await group.ended()
    #expect(history.entry(of: group.id)?.layout == "G(b)")
    let undo = history.undo()
    await undo.ended()
    #expect(history.entry(of: undo.id) == nil)
    #expect(history.entry(of: group.id)?.isApplied == false)
  }

  @Test(.holds("Merged"))
  func `an execution that was merged has the entry that it went into`() async {
    var ids: [UseCaseOperationID] = []
    for _ in 1...200 {
      let operation = history.execute(Typing(page: page), "a")
      ids.append(operation.id)
      await operation.ended()
    }
    #expect(history.entries.count == 1)
    #expect(ids.allSatisfy { history.entry(of: $0)?.id == history.entries[0].id })
    history.clear()
    #expect(ids.allSatisfy { history.entry(of: $0) == nil })
  }

  @Test(.holds("What it recorded"))
  func `what an entry recorded is there for those who know its use case`() async throws {
    await history.run(page, "A@x")
    let id = history.entries[0].id
    let execution = try #require(history.execution(id, by: Edit.self))
    #expect(execution.request == "A@x" && execution.response.number == 1)
    #expect(history.execution(id, by: Typing.self) == nil)
    await history.back(1)
    await history.forth(1)
    #expect(history.execution(id, by: Edit.self)?.response.number == 2)
    await desk.group("G", "b", "c")
    let group = history.entries[1]
    #expect(history.execution(group.id, by: Edit.self) == nil)
    let parts = group.children.map { history.execution($0.id, by: Edit.self)?.request }
    #expect(parts == ["b", "c"])
    history.clear()
    #expect(history.execution(id, by: Edit.self) == nil)
  }

  @Test(.holds("The current entry"))
  func `a body, its undo and its redo know the entry that it is`() async {
    let seen = Log<HistoryEntry.ID?>()
    page.direct { _ in seen.append(.current) }
    await history.run(page, "A")
    await history.back(1)
    await history.forth(1)
    let id = history.entries[0].id
    #expect(seen.elements == [id, id, id] && HistoryEntry.ID.current == nil)
  }

  @Test(.holds("The current entry"))
  func `each part of a group knows its own`() async {
    let seen = Log<HistoryEntry.ID?>()
    page.direct { _ in seen.append(.current) }
    await history.group("G") { [edit = desk.edit] in
      seen.append(.current)
      for text in ["a", "b"] { _ = try await edit(text) }
    }.ended()
    let parts = history.entries[0].children.map(\.id)
    await history.back(1)
    await history.forth(1)
    #expect(seen.elements == [nil] + parts + parts.reversed() + parts)
  }

  @Test func `an entry is printed as its number and its title`() async throws {
    await history.run(page, "A")
    let entry = try #require(history.entries.first)
    #expect("\(entry)" == "\(entry.id) A")
  }

  @Test(.holds("The current entry"))
  func `what is called inside belongs to the entry of its caller`() async {
    let seen = Log<HistoryEntry.ID?>()
    page.script("do A") { [edit = desk.edit] in
      _ = try await edit("B")
    }
    page.script("do B") { seen.append(.current) }
    await history.run(page, "A")
    #expect(seen.elements == [history.entries[0].id])
  }
}
