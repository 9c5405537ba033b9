import Foundation

/// The terminal as a full screen of cells and a source of keys.
///
/// Whatever ends the program gives the terminal back as it was: ``close()``, and a crash too.
/// A signal is an event like a key, so that nothing is drawn after the screen was given back.
@MainActor
final class Terminal {
  enum Event: Sendable {
    case key(Key)
    case signal(Int32)
  }

  /// The events at the terminal, until it goes away.
  let events: AsyncStream<Event>

  private let signals: [any DispatchSourceSignal]

  /// Takes the terminal over.
  init() throws(Failure) {
    guard isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &givenMode) == 0 else {
      throw Failure(message: "this needs a terminal to draw on; without one, use --script FILE")
    }
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    self.events = events
    signals = [SIGWINCH, SIGTSTP, SIGHUP, SIGINT, SIGQUIT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(.signal(number)) }
      source.resume()
      return source
    }
    restoreAfterCrash()
    enterFullScreen()
    Thread { Self.readKeys(into: continuation) }.start()
  }

  /// Gives the terminal back.
  func close() {
    leaveFullScreen()
  }

  /// Gives the terminal back, stops the program, and takes the terminal over again when somebody
  /// lets the program go on.
  func suspend() {
    leaveFullScreen()
    raise(SIGSTOP)
    enterFullScreen()
  }

  var size: TerminalSize {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return TerminalSize(columns: 80, rows: 24) }
    return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// Draws a screen over the last one.
  ///
  /// Each row is placed by itself, so that a character of which the terminal believes another
  /// width than we do can only spoil its own row.
  func draw(_ screen: Screen) {
    var output = "\u{1B}[?25l"
    for (row, line) in screen.rows.enumerated() {
      output += "\u{1B}[\(row + 1);1H\u{1B}[K\(line)"
    }
    if let highlight = screen.highlight {
      output += "\u{1B}[\(highlight.row + 1);1H\u{1B}[7m\(highlight.text)\u{1B}[0m"
    }
    output += "\u{1B}[\(screen.cursor.row + 1);\(screen.cursor.column + 1)H\u{1B}[?25h"
    var text = output
    text.withUTF8 { writeAll(UnsafeRawBufferPointer($0)) }
  }

  private nonisolated static func readKeys(into events: AsyncStream<Event>.Continuation) {
    var decoder = KeyDecoder()
    var buffer = [UInt8](repeating: 0, count: 1024)
    while true {
      // Esc alone and the start of an arrow key differ only in what follows at once.
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      if decoder.isWaiting, poll(&input, 1, 50) == 0 {
        for key in decoder.flush() { events.yield(.key(key)) }
      }
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for key in decoder.decode(buffer.prefix(count)) { events.yield(.key(key)) }
    }
    events.finish()
  }
}

// MARK: - Giving the terminal back

/// The mode that the terminal was found in.
///
/// The handler of a crash can hold no lock. It needs none: this is written before the handler is
/// installed, and only read from then on.
private nonisolated(unsafe) var givenMode = termios()

private func enterFullScreen() {
  var mode = givenMode
  cfmakeraw(&mode)
  tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  // The alternate screen, and no wrapping at the right margin.
  send("\u{1B}[?1049h\u{1B}[?7l")
}

/// Does only what a signal handler may: `write` and `tcsetattr`.
private func leaveFullScreen() {
  send("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
  tcsetattr(STDIN_FILENO, TCSADRAIN, &givenMode)
}

private func restoreAfterCrash() {
  for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
    signal(crash) { crash in
      leaveFullScreen()
      signal(crash, SIG_DFL)
      raise(crash)
    }
  }
}

private func send(_ text: StaticString) {
  writeAll(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
}

private func writeAll(_ bytes: UnsafeRawBufferPointer) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0, errno != EINTR { return }
    rest = rest.dropFirst(max(0, count))
  }
}
