import Observation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

/// The code of “Show it before the server agrees”, and of the comments of `OptimisticValue`.
@Suite(.mustEnd) @MainActor
struct OptimisticArticleTests {
  struct Offline: Error {}

  struct Heart: Equatable {
    var isLiked = false
  }

  @MainActor @Observable
  final class HeartModel {
    let heart = OptimisticValue(Heart(isLiked: false))
    private let like: any UseCase<Bool, Void>

    init(like: any UseCase<Bool, Void>) { self.like = like }

    func tap() {
      let isLiked = !heart.value.isLiked
      heart.change(like.execute(isLiked)) { $0.isLiked = isLiked }
    }
  }

  @Test(arguments: [UseCaseQueue.Policy.serial, .keepLatest], 0..<8)
  func `a heart ends as the server has it, whichever of three taps it refuses`(
    policy: UseCaseQueue.Policy, refused: Int
  ) async throws {
    let like = ControlledUseCase<Bool, Void>(queue: UseCaseQueue(policy))
    let model = HeartModel(like: like)
    for isLiked in [true, false, true] {
      model.tap()
      #expect(model.heart.value.isLiked == isLiked)
    }
    var stored = false
    // Under `keepLatest`, the third tap supersedes the second.
    for tap in 0..<(policy == .serial ? 3 : 2) {
      let call = try await like.next()
      if refused & 1 << tap == 0 {
        stored = call.request
        call.succeed(())
      } else {
        call.fail(Offline())
      }
    }
    await like.queue.idle()
    #expect(model.heart.value.isLiked == stored && !model.heart.isPending)
  }

  @Test func `a heart is red when the call returns`() async throws {
    let like = ControlledUseCase<Bool, Void>()
    let heart = OptimisticValue(Heart(isLiked: false))

    heart.change(like.execute(true)) { $0.isLiked = true }
    print(heart.value.isLiked)  // true
    #expect(heart.value.isLiked && !heart.confirmed.isLiked)
    try await like.next().succeed(())
    while heart.isPending { await Task.yield() }
    #expect(heart.confirmed.isLiked)
  }
}

extension OptimisticArticleTests {
  struct Note: Identifiable, Equatable, Sendable {
    let id: Int
    var title: String
  }

  struct DeleteNote: UndoableUseCase {
    let server: any UseCase<String, Void>

    func main(_ note: Note) async throws { try await server("DELETE \(note.id)") }
    func undo(_ note: Note, _ response: Void) async throws { try await server("PUT \(note.id)") }
  }

  @MainActor @Observable
  final class NotesList {
    let rows: OptimisticValue<[Note]>
    private(set) var deleted: (note: Note, index: Int)?
    private let deleteNote: RecordedUseCase<DeleteNote>
    private let history: UseCaseHistory

    init(_ notes: [Note], _ deleteNote: DeleteNote, in history: UseCaseHistory) {
      rows = OptimisticValue(notes)
      self.deleteNote = deleteNote.recorded(in: history)
      self.history = history
    }

    func delete(_ note: Note) {
      guard let index = rows.value.firstIndex(of: note) else { return }
      rows.change(deleteNote.execute(note)) { rows in
        rows.removeAll { $0.id == note.id }
      }
      deleted = (note, index)
    }

    func undo() {
      guard let (note, index) = deleted else { return }
      deleted = nil
      let insert = { (rows: inout [Note]) in
        guard !rows.contains(where: { $0.id == note.id }) else { return }
        rows.insert(note, at: min(index, rows.count))
      }
      rows.change(history.undo(), insert) { rows, entry in
        if entry != nil { insert(&rows) }  // nil: there was nothing to undo
      }
    }
  }

  @Test(arguments: [true, false])
  func `a row goes and comes back at once, and is there once`(isRefused: Bool) async throws {
    let (tea, jam) = (Note(id: 1, title: "tea"), Note(id: 2, title: "jam"))
    let server = ControlledUseCase<String, Void>()
    let list = NotesList([tea, jam], DeleteNote(server: server), in: UseCaseHistory())
    list.delete(tea)
    #expect(list.rows.value == [jam])
    list.undo()
    #expect(list.rows.value == [tea, jam])

    let deletion = try await server.next()
    if isRefused {
      deletion.fail(Offline())
    } else {
      deletion.succeed(())
      let undo = try await server.next()
      #expect(undo.request == "PUT 1" && list.rows.value == [tea, jam])
      undo.succeed(())
    }
    while list.rows.isPending { await Task.yield() }
    #expect(list.rows.value == [tea, jam])
    #expect((list.rows.error == nil) == !isRefused)
  }

  @Test func `a reload keeps what has succeeded since it began`() async throws {
    let load = ControlledUseCase<Void, [String]>()
    let add = AnyUseCase<String, Void> { _ in }
    let rows = OptimisticValue(["tea"])

    let mark = rows.mark()
    load.execute().then { list in rows.confirm(list, since: mark) }
    let reload = try await load.next()
    try await rows.change(add.execute("jam")) { $0.append("jam") }.settled()
    reload.succeed(["tea", "milk"])
    while rows.value.count < 3 { await Task.yield() }
    #expect(rows.value == ["tea", "milk", "jam"])
  }
}

extension OptimisticArticleTests {
  @MainActor @Observable
  final class TitleModel {
    var draft = ""  // the text field
    let title = OptimisticValue("Untitled")  // the row in the list
    private let rename: any UseCase<String, String>

    init(rename: any UseCase<String, String>) { self.rename = rename }

    @discardableResult
    func save() -> UseCaseOperation<String, String> {
      let draft = draft
      return title.change(rename.execute(draft), { $0 = draft }) { title, trimmed in
        title = trimmed
      }
    }
  }

  @Test func `a save that fails takes nothing from the draft`() async throws {
    let server = ControlledUseCase<String, String>()
    let model = TitleModel(rename: server)
    model.draft = "Tea "
    let first = model.save()
    #expect(model.title.value == "Tea ")
    try await server.next().fail(Offline())
    try await first.settled()
    #expect(model.title.value == "Untitled" && model.title.error is Offline)
    #expect(model.draft == "Tea ")

    let second = model.save()
    try await server.next().succeed("Tea")
    try await second.settled()
    #expect(model.title.value == "Tea" && model.title.error == nil)
  }
}
