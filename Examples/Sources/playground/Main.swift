import Foundation
import LocalServer

@main
struct Main {
  private static let help = """
    usage: playground [--port N] [--record FOLDER]

    Serves a page on this machine: type into it, and watch what each policy of a queue makes of
    your keystrokes. It prints its address when it is ready.

      --port N          listen on this port of 127.0.0.1, on any that is free if there is none
      --record FOLDER   record runs, and write a page into FOLDER that replays them without a
                        server
      --help            print this.
    """

  static func main() async {
    do throws(Failure) {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.asksForHelp { return print(help) }
      let page = try PageFiles()
      if let folder = arguments.folder {
        try await Recorder().write(to: folder, page: page)
      } else {
        try serve(page, port: arguments.port)
      }
    } catch {
      FileHandle.standardError.write(Data("playground: \(error.message)\n".utf8))
      exit(error.exitCode)
    }
  }

  private static func serve(_ page: PageFiles, port: UInt16) throws(Failure) -> Never {
    let listener: Listener
    do throws(Listener.PortIsTaken) {
      listener = try Listener(port: port)
    } catch {
      throw Failure("\(error)")
    }
    FileHandle.standardOutput.write(Data("\(listener.address)\n".utf8))
    let site = Site(page: page)
    listener.run { request throws(HTTPAnswer) in try site.reply(to: request) }
  }
}

/// The arguments on the command line.
struct Arguments: Equatable {
  var port: UInt16 = 0
  var folder: String?
  var asksForHelp = false

  init(_ arguments: some Collection<String>) throws(Failure) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--help", "-h": asksForHelp = true
      case "--port":
        guard let number = rest.popFirst().flatMap(UInt16.init) else {
          throw .usage("--port needs a number up to 65535")
        }
        port = number
      case "--record":
        guard let path = rest.popFirst(), !path.isEmpty else {
          throw .usage("--record needs the name of a folder")
        }
        folder = path
      default: throw .usage("unknown argument '\(option)'")
      }
    }
  }
}

/// The reason why the program stops.
struct Failure: Error, Equatable {
  let message: String
  var exitCode: Int32 = 1

  init(_ message: String, exitCode: Int32 = 1) {
    self.message = message
    self.exitCode = exitCode
  }

  static func usage(_ message: String) -> Failure {
    Failure("\(message) (see playground --help)", exitCode: 2)
  }
}
