import Foundation
import LocalServer

@main
struct Main {
  private static let help = """
    usage: notes-server [--file FILE] [--port N] [--attached]

    Keeps notes for the clients on this machine. It prints its address when it is ready.

      --file FILE   keep the notes in FILE (~/.notes-example if there is no other)
      --port N      listen on this port of 127.0.0.1, on any that is free if there is none
      --attached    stop when standard input ends: when the program that started it ends.
                    If another server has the file, print the address of that one.
      --help        print this.

    Who has set NOTES_SERVER_TOKEN is asked for that token by clients: see `notes login`.
    """

  static func main() {
    do throws(Failure) {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.asksForHelp { return print(help) }
      try serve(arguments)
    } catch {
      FileHandle.standardError.write(Data("notes-server: \(error.message)\n".utf8))
      exit(error.exitCode)
    }
  }

  private static func serve(_ arguments: Arguments) throws(Failure) -> Never {
    if arguments.isAttached { stopAtEndOfInput() }
    let lock = try FileLock(path: arguments.file + ".lock")
    guard lock.isMine else {
      guard arguments.isAttached else { throw Failure("\(arguments.file) has a server already") }
      say(lock.note)
      exit(0)
    }
    let store = try Store(path: arguments.file)
    let listener = try listen(on: arguments.port)
    lock.note = listener.address
    say(listener.address)
    let token = ProcessInfo.processInfo.environment["NOTES_SERVER_TOKEN"]
    let service = NotesService(store: store, token: token)
    listener.run { request throws(HTTPAnswer) in .whole(try service.answer(request)) }
  }

  private static func listen(on port: UInt16) throws(Failure) -> Listener {
    do throws(Listener.PortIsTaken) {
      return try Listener(port: port)
    } catch {
      throw Failure("\(error)")
    }
  }

  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// The program that started this one decides when it is over, and not a Ctrl-C at its terminal.
  private static func stopAtEndOfInput() {
    signal(SIGINT, SIG_IGN)
    Thread {
      while let bytes = try? FileHandle.standardInput.read(upToCount: 1024), !bytes.isEmpty {}
      exit(0)
    }.start()
  }
}

/// The arguments on the command line.
struct Arguments: Equatable {
  var file = NSHomeDirectory() + "/.notes-example"
  var port: UInt16 = 0
  var isAttached = false
  var asksForHelp = false

  init(_ arguments: some Collection<String>) throws(Failure) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--help", "-h": asksForHelp = true
      case "--attached": isAttached = true
      case "--file":
        guard let path = rest.popFirst(), !path.isEmpty else {
          throw .usage("--file needs the name of a file")
        }
        file = path
      case "--port":
        guard let number = rest.popFirst().flatMap(UInt16.init) else {
          throw .usage("--port needs a number up to 65535")
        }
        port = number
      default: throw .usage("unknown argument '\(option)'")
      }
    }
  }
}

/// Why the server cannot start.
struct Failure: Error, Equatable {
  let message: String
  var exitCode: Int32 = 1

  init(_ message: String, exitCode: Int32 = 1) {
    self.message = message
    self.exitCode = exitCode
  }

  static func usage(_ message: String) -> Failure {
    Failure("\(message) (see notes-server --help)", exitCode: 2)
  }
}
