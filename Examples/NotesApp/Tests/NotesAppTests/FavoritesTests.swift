import NotesModels
import NotesServer
import Testing
import UseCase

@Suite(.timeLimit(.minutes(1))) @MainActor
struct FavoritesTests {
  @Test(arguments: 1...4, [NotesServer.Trouble.none, .refused, .unanswered])
  func `taps end as the server has it`(taps: Int, trouble: NotesServer.Trouble) async throws {
    for failing in ["first", "last"] {
      let server = try TestServer()
      let test = try await TestApp(server)
      let favorites = test.app.favorites
      let first = server.hold("PUT /favorites/1", failing == "first" ? trouble : .none)
      if failing == "last", taps > 1 { server.fail("PUT /favorites/1", trouble) }
      let operations = (1...taps).map { tap in
        let operation = favorites.tap(1)
        #expect(favorites.ids.value.contains(1) == !tap.isMultiple(of: 2))
        return operation
      }
      try await first.arrived.pass()
      first.answer()
      for operation in operations { try await operation.settled() }
      // A star that was taken back is loaded again.
      try await test.until { !favorites.loading.isRunning }
      #expect(favorites.ids.value == server.content.favorites, "\(failing)")
      #expect(!favorites.ids.isPending && favorites.message == nil)
      if trouble == .none { #expect(favorites.ids.value.contains(1) == !taps.isMultiple(of: 2)) }
    }
  }

  @Test func `a star that is set while the stars are loaded stays`() async throws {
    let server = try TestServer()
    let test = try await TestApp(server)
    let favorites = test.app.favorites
    let loading = server.hold("GET /favorites")
    let load = favorites.load()
    try await loading.arrived.pass()
    try await favorites.tap(1).settled()
    loading.answer()
    try await load.settled()
    #expect(favorites.ids.value == [1])
  }
}
