import TestSupport
import Testing
import UseCase

/// The code about lanes and shared runs in “Choosing a policy”, in both languages, and in comments.
@Suite(.mustEnd)
struct LanesAndSharedRunsTests {
  private struct Note {
    struct ID: Hashable {
      let name: String
    }

    let id: ID
    let text: String
  }

  private struct SaveNote: UseCase {
    let save: @Sendable (Note) async throws -> Void
    let lanes = UseCaseLanes<Note.ID>(.keepLatest)

    func queue(for note: Note) -> UseCaseQueue { lanes[note.id] }
    func main(_ note: Note) async throws { try await save(note) }
  }

  @Test func `two notes are saved side by side, and of one the newest wins`() async {
    let (gate, saved) = (Gate(), Log<String>())
    let saveNote = SaveNote { note in
      await gate.passIgnoringCancellation()
      saved.append(note.text)
    }
    let (milk, tea) = (Note.ID(name: "milk"), Note.ID(name: "tea"))
    let operations = [(milk, "m"), (milk, "mi"), (tea, "t"), (milk, "mil")].map { id, text in
      saveNote.execute(Note(id: id, text: text))
    }
    #expect(operations.map(\.state) == [.running, .finished, .running, .waiting])
    gate.open()
    await saveNote.lanes.idle()
    #expect(saved.elements.sorted() == ["m", "mil", "t"])
  }

  private enum User {
    typealias ID = Int
  }

  private typealias Avatar = String

  private struct LoadAvatar: UseCase {
    let server: @Sendable (User.ID) async throws -> Avatar
    let queue = UseCaseQueue(.limit(4))

    func main(_ user: User.ID) async throws -> Avatar {
      try await server(user)
    }
  }

  private final class Row: Sendable {
    let user: User.ID
    let scope = UseCaseScope()
    let avatars = Log<Avatar>()

    init(user: User.ID) { self.user = user }

    func show(_ avatar: Avatar) { avatars.append(avatar) }
  }

  @Test func `ten rows of one user have one download`() async {
    let (gate, asked) = (Gate(), Log<User.ID>())
    let server: @Sendable (User.ID) async throws -> Avatar = { user in
      asked.append(user)
      await gate.passIgnoringCancellation()
      return "avatar \(user)"
    }
    var rows = (0..<10).map { _ in Row(user: 7) }

    let loadAvatar = LoadAvatar(server: server).shared()
    for row in rows {
      loadAvatar.execute(row.user)
        .then { [weak row] avatar in row?.show(avatar) }
        .store(in: row.scope)
    }

    weak let released = rows[0]
    let avatarsOfReleased = rows[0].avatars
    rows.removeFirst()
    #expect(released == nil)
    gate.open()
    for row in rows {
      #expect(await row.avatars.elements(atLeast: 1) == ["avatar 7"])
    }
    #expect(asked.elements == [7])
    #expect(avatarsOfReleased.count == 0)
  }
}
