import Foundation
import UseCase
import UseCaseJournal

@main
struct Main {
  private static let helpText = """
    outbox: messages that survive the process.

    outbox [--flaky] [FOLDER]

      add CHAT TEXT   keep a message, and send it
      list            the messages that are kept, with their numbers
      retry           try again now
      discard NUMBER  remove a message that was refused
      offline         the server can't be reached
      online          the server can be reached again
      wait            until nothing is left to send

    It reads commands, one a line. The messages are in FOLDER, by default ~/.outbox, and so is
    server.log, with all that has arrived at the server. The server refuses texts that begin with
    "spam". With --flaky, it loses some calls and some answers. Kill the program whenever you like.
    """

  static func main() async {
    do {
      var arguments = CommandLine.arguments.dropFirst()
      if ["--help", "-h"].contains(arguments.first) { return print(helpText) }
      let isFlaky = arguments.first == "--flaky"
      if isFlaky { arguments.removeFirst() }
      let folder = URL(filePath: arguments.first ?? NSHomeDirectory() + "/.outbox")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let server = try FakeServer(folder.appending(path: "server.log").path, isFlaky: isFlaky)
      let outbox = try await Outbox(
        try FileJournal(at: folder.appending(path: "outbox.journal")), server: server,
        delay: isFlaky
          ? .constant(.milliseconds(1)) : .exponential(.seconds(1), cap: .seconds(60)))
      while let line = readLine() {
        do {
          try await run(line.split(separator: " ").map(String.init), outbox, server)
        } catch {
          print("outbox: \(error)")
        }
        fflush(nil)
      }
    } catch {
      FileHandle.standardError.write(Data("outbox: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(
    _ words: [String], _ outbox: Outbox, _ server: FakeServer
  ) async throws {
    switch (words.first, words.count) {
    case (nil, _): break
    case ("help", 1): print(helpText)
    case ("add", 3...):
      let message = try await outbox.add(words[2...].joined(separator: " "), to: words[1])
      print("Kept \(message.id).")
    case ("list", 1): await list(outbox)
    case ("retry", 1): await outbox.retryNow()
    case ("discard", 2):
      guard let message = await outbox.messages.first(where: { "\($0.id)" == words[1] }) else {
        return print("There is no message \(words[1]).")
      }
      try await outbox.discard(message)
    case ("offline", 1): await server.goOnline(false)
    case ("online", 1): await server.goOnline(true)
    case ("wait", 1) where await !server.isOnline:
      print("Offline: nothing ends before ‘online’.")
    case ("wait", 1): await outbox.idle()
    default: print("‘\(words.joined(separator: " "))’ is no command: see help.")
    }
  }

  private static func list(_ outbox: Outbox) async {
    for message in await outbox.messages {
      let refusal = message.refusal.map { " (refused: \($0))" } ?? ""
      print("\(message.id)  \(message.chat): \(message.text)\(refusal)")
    }
    if outbox.unreadable > 0 { print("\(outbox.unreadable) of another version of the program") }
  }
}
