import Foundation

/// Runs the picker on the terminal, until a person leaves, and prints the line.
@MainActor
func runOnTerminal(_ editor: Editor) async throws(Failure) {
  let terminal = try Terminal()
  let picker = Picker(size: terminal.size, editor: editor) { terminal.draw(Screen($0)) }
  picker.start()
  for await event in terminal.events {
    switch event {
    case .key(let key):
      await picker.press(key)
    case .signal(SIGTSTP):
      terminal.suspend()
      picker.resize(to: terminal.size)
    case .signal(SIGWINCH):
      picker.resize(to: terminal.size)
    case .signal(let number):
      terminal.close()
      exit(128 + number)
    }
    if picker.hasQuit { break }
  }
  await editor.settled()
  terminal.close()
  let text = editor.document.line.text
  if !text.isEmpty { print(text) }
}

/// Runs the picker on a script, and writes a transcript: each line of the script, and the screen
/// when everything that the line has set going is over.
@MainActor
func play(
  _ script: Script, _ editor: Editor, write: @escaping (String) -> Void = { print($0) }
) async {
  let picker = Picker(size: TerminalSize(columns: 60, rows: 10), editor: editor) { state in
    guard let progress = state.progress, progress.isMultiple(of: 10) else { return }
    write(Screen(state).rows.last?.trimmingTrailingSpaces ?? "")
  }
  picker.start()
  await picker.settled()

  for step in script.steps where !picker.hasQuit {
    switch step.action {
    case .resize(let size): picker.resize(to: size)
    case .press(let keys, isBurst: true): await picker.burst(keys)
    case .press(let keys, isBurst: false):
      for key in keys where !picker.hasQuit {
        await picker.press(key)
        await picker.settled()
      }
    }
    await picker.settled()
    write("> \(step.line)")
    let screen = Screen(picker.state)
    for (row, line) in screen.rows.enumerated() {
      write("| \(line)".trimmingTrailingSpaces)
      // Where the caret is in the text.
      if row > 0, row == screen.cursor.row {
        write("  " + String(repeating: " ", count: screen.cursor.column) + "^")
      }
    }
  }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    String(reversed().drop { $0 == " " }.reversed())
  }
}
