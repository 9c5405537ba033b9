import Foundation
import Testing
import UseCase

@testable import notes

@MainActor
struct SessionTests {
  private final class Lines {
    var shown: [String] = []
    var failures: [String] = []
  }

  private let server = FakeServer()
  private let trouble = Trouble()
  private let lines = Lines()
  private let notes: Notes

  init() {
    // The port of the app, with its interceptors, in front of the fake.
    let port = AnyUseCase(queue: UseCaseQueue(interceptors: [trouble])) { [server] request in
      try await server(request)
    }
    notes = Notes(server: port, paper: Paper(seed: 7))
  }

  private func batch(isScript: Bool) -> (Batch, Session) {
    let batch = Batch(
      isScript: isScript, write: { [lines] in lines.shown.append($0) },
      writeFailure: { [lines] in lines.failures.append($0) })
    return (batch, Session(notes, trouble: trouble, output: batch))
  }

  private func run(_ command: Command) async -> Int32 {
    let (batch, session) = batch(isScript: false)
    return await batch.run(command, session)
  }

  private func run(script: String) async -> Int32 {
    let (batch, session) = batch(isScript: true)
    return await batch.run(script: script, session)
  }

  @Test func `a command shows its result, and its exit code says whether it has one`() async {
    #expect(await run(.new("a")) == 0)
    #expect(await run(.list) == 0)
    #expect(lines.shown == ["Made: ne34  a", "ne34  a"])
    #expect(lines.failures == [])
    #expect(await run(.show("zz")) == 1)
    #expect(lines.failures == ["There is no note zz."])
  }

  @Test func `without a server a list still shows what is known, and fails`() async {
    #expect(await run(.new("a")) == 0)
    #expect(await run(.list) == 0)
    lines.shown = []
    #expect(await run(.offline(true)) == 0)
    #expect(await run(.list) == 1)
    #expect(lines.shown == ["ne34  a"])
    #expect(lines.failures == ["You are offline."])
  }

  @Test func `a list that has changed meanwhile is shown again`() async {
    #expect(await run(script: "new a\nlist") == 0)
    #expect(lines.shown.suffix(3) == ["> list", "Known:\nne34  a", "Up to date."])
    server.change("a", to: "b")
    #expect(await run(script: "list") == 0)
    #expect(lines.shown.suffix(4) == ["> list", "Known:\nne34  a", "By now:", "ne34  b"])
  }

  @Test func `a script ends where something is not as it should be`() async {
    #expect(await run(script: "# one\nnew a\n\n! show zz\nhistory\n") == 0)
    #expect(
      lines.shown == [
        "> new a", "Made: ne34  a", "> ! show zz", "There is no note zz.", "> history",
        "● New “a”", "─ now ─",
      ])
    #expect(await run(script: "show zz\nnew b") == 1)
    #expect(await run(script: "! list\nnew b") == 1)
    #expect(await run(script: "nonsense\nnew b") == 2)
    #expect(await run(script: "quit\nnew b") == 0)
    #expect(server.texts == ["a"])
  }

  @Test func `a new action leaves to be redone what it does not touch`() async {
    #expect(await run(script: "new a\nnew b\nundo\nundo\nnew c\nredo") == 0)
    #expect(
      lines.shown.suffix(4) == ["> new c", "Made: 2ga2  c", "> redo", "Redone: New “a”"])
  }

  @Test func `a removal offers its own undo, which works after later changes`() async {
    #expect(await run(script: "new a\nnew b\nremove ne34") == 0)
    #expect(lines.shown.last?.hasPrefix("Back with: restore ne34") == true)
    #expect(await run(script: "new c\nrestore ne34\n! restore ne34\nundo") == 0)
    #expect(server.texts.sorted() == ["a", "b"])
  }

  @Test func `an undo that meets somebody else's change says so, and the next one goes on`() async {
    #expect(await run(script: "new a\nnew b") == 0)
    server.change("b", to: "theirs")
    #expect(await run(script: "! undo\nundo\nhistory") == 0)
    #expect(
      lines.shown.suffix(7) == [
        "> ! undo",
        "Somebody else has changed the note: nothing was done. It is no longer in the history.",
        "> undo", "Undone: New “a”", "> history", "─ now ─", "○ New “a”",
      ])
  }

  @Test func `what is cancelled on its way is told to be in the history`() async {
    server.hold(at: 1)
    let (batch, session) = batch(isScript: true)
    #expect(!session.cancel())
    async let code = batch.run(.new("a"), session)
    await server.arrived(1)
    #expect(session.cancel())
    server.release()
    #expect(await code == 1)
    #expect(lines.shown.last == "Stopped. In the history: New “a”")
    #expect(!session.cancel())
  }

  @Test func `what steers a terminal is not shown`() {
    #expect(Words.printable("a\u{1B}[2J\u{202E}\nb") == "a [2J  b")
    #expect(Words.printable("abc", limit: 2) == "ab…")
  }

  @Test func `failures are told in words, not in types`() {
    let errors: [NotesError] = [
      .offline, .unreachable, .busy, .notLoggedIn, .notFound("a"), .ambiguous("a"), .changed,
      .refused(status: 507, words: "full"),
    ]
    for error in errors { #expect(Words.failure(error).contains(" ")) }
    #expect(Words.failure(UseCaseTimeout(duration: .seconds(2))).hasPrefix("No answer within 2 s"))
  }

  @Test func `commands are understood, or refused with a reason`() throws {
    #expect(try Command(line: "  new  two words ") == .new("two words"))
    #expect(try Command(line: "edit a b c") == .edit("a", "b c"))
    #expect(try Command(line: "latency 20") == .latency(20))
    for line in [
      "", "x", "new", "show", "show a b", "edit a", "edit", "list now", "fail -1", "latency x",
    ] {
      #expect(throws: Failure.self) { try Command(line: line) }
    }
  }

  @Test func `options come before the command`() throws {
    let arguments = try Arguments([
      "--offline", "--latency", "5", "--fail-next", "2", "--timeout", "3", "--file", "f",
      "--server", "http://127.0.0.1:80", "new", "a", "b",
    ])
    #expect(arguments.command == .new("a b"))
    #expect(
      arguments.trouble
        == Trouble.Settings(latency: .milliseconds(5), failures: 2, isOffline: true))
    #expect(arguments.timeout == .seconds(3))
    #expect(arguments.cacheFile == "f.127.0.0.1-80.cache")
    for words in [
      ["--x"], ["--file"], ["--server", "x"], ["--latency", "x"], ["--script", "s", "list"],
    ] {
      #expect(throws: Failure.self) { try Arguments(words) }
    }
  }
}
