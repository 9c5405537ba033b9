import Foundation
import UseCaseHistory
import UseCaseJournal

@main
struct Main {
  @MainActor
  static func main() async {
    do throws(Failure) {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.command == .help { return print(Words.help) }
      exit(try await run(arguments))
    } catch {
      Standard.error(error.message)
      exit(error.exitCode)
    }
  }

  @MainActor
  private static func run(_ arguments: Arguments) async throws(Failure) -> Int32 {
    let isTyped = arguments.command == nil && arguments.script == nil && isatty(STDIN_FILENO) == 1
    let interactive = Interactive()
    let batch = Batch(isScript: arguments.command == nil)
    let output: any Output = isTyped ? interactive : batch

    let server = ServerAddress(arguments.server.map { .given($0) } ?? .own(file: arguments.file))
    let credentials = Credentials(token: ProcessInfo.processInfo.environment["NOTES_TOKEN"])
    let trouble = Trouble(arguments.trouble)
    let tell = isTyped ? Interactive.tell : batch.isScript ? Standard.output : Standard.error
    let callServer = CallServer(
      server: server, credentials: credentials, timeout: arguments.timeout, trouble: trouble
    ) { error in tell("\(Words.failure(error)) Trying again.") }
    let notes = await notes(arguments, callServer, credentials, tell)
    let session = Session(notes, trouble: trouble, output: output)

    var isInterrupted = false
    let interrupts = onInterrupt {
      isInterrupted = true
      if session.cancel() { return }
      if isTyped { Standard.output("") }
      leave(server)
    }
    defer { interrupts.cancel() }
    var code: Int32 = 0
    if let command = arguments.command {
      code = await batch.run(command, session)
    } else if isTyped {
      await interactive.run(session)
      isInterrupted = false
    } else {
      code = await batch.run(script: try script(arguments.script), session)
    }
    await server.close()
    return isInterrupted ? interrupted : code
  }

  /// The notes with the history of the file. While another one has that, the history is that of
  /// this process.
  private static func notes(
    _ arguments: Arguments, _ server: CallServer, _ credentials: Credentials,
    _ tell: (String) -> Void
  ) async -> Notes {
    let (cache, paper) = (NotesCache(path: arguments.cacheFile), Paper(seed: arguments.seed))
    do {
      let journal = try FileJournal(at: URL(filePath: arguments.historyFile))
      return try await Notes.open(
        journal, interrupted: arguments.keepsInterrupted ? .keep : .compensate,
        server: server, cache: cache, paper: paper, credentials: credentials)
    } catch {
      tell("\(error) What is done now cannot be undone by the next one.")
      return Notes(server: server, cache: cache, paper: paper, credentials: credentials)
    }
  }

  private static let interrupted = 128 + SIGINT

  private static func onInterrupt(
    _ handler: @escaping @MainActor () -> Void
  ) -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    source.setEventHandler { MainActor.assumeIsolated(handler) }
    source.resume()
    return source
  }

  private static func leave(_ server: ServerAddress) {
    Task {
      await server.close()
      exit(interrupted)
    }
  }

  private static func script(_ file: String?) throws(Failure) -> String {
    let data =
      if let file {
        FileManager.default.contents(atPath: file)
      } else {
        try? FileHandle.standardInput.readToEnd() ?? Data()
      }
    guard let data, let text = String(validating: data, as: UTF8.self) else {
      throw Failure(message: "cannot read \(file ?? "standard input"), or it is not UTF-8")
    }
    return text
  }
}
