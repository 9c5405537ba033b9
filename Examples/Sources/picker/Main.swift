import Foundation

@main
struct Main {
  private static let help = """
    usage: picker [--file FILE] [--script FILE]

    Finds characters by their Unicode names, as you type, and puts them into a line of
    text. The line is printed when you leave.

      --file FILE     edit the line in FILE, which is made by the first Ctrl-S
      --script FILE   read keystrokes from FILE instead of from the keyboard, and print
                      what the screen shows after each line. A pipe does the same.
      --help          print this.

    Keys in the search:

      Return          insert the selected character
      Up, Down, Page Up, Page Down, Home, End
                      select another one
      Backspace       erase a character: of the query or, when that is empty, of the text
      Escape          erase the query

    Keys in the text:

      Left, Right, Home, End
                      move the caret
      Backspace, Delete
                      erase the character before or behind the caret
      Escape          go back to the search

    Keys in both:

      Tab             go from the search to the text, and back
      Ctrl-Z, Ctrl-Y  undo, redo: a word, a picked character, a whole replacement
      Ctrl-R          replace all: asks what, and by what
      Ctrl-L          lock the line, or unlock it: a locked line refuses every change
      Ctrl-S          save the line; a star marks what is not saved
      Ctrl-W, Ctrl-U  erase the word before the caret, or all before it
      Ctrl-C, Ctrl-D  leave

    A script has one of these on each line; empty lines and those with a # are skipped.

      type TEXT       type TEXT, and wait for each search to end
      burst TEXT      type TEXT faster than the first search can end
      press KEY ...   press keys: up down page-up page-down home end return tab backspace
                      delete left right escape, and ctrl-a to ctrl-z
      bytes HEX ...   what a terminal might send, such as: bytes e2 86 90
      size COLUMNS ROWS
                      give the screen another size; it has 60 by 10 at first
    """

  @MainActor
  static func main() async {
    do throws(Failure) {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.asksForHelp { return print(help) }

      let editor = try Editor(file: arguments.file.map(TextFile.init))
      if arguments.script != nil || isatty(STDIN_FILENO) == 0 {
        await play(try Script(contentsOf: arguments.script), editor)
      } else {
        try await runOnTerminal(editor)
      }
    } catch {
      FileHandle.standardError.write(Data("picker: \(error.message)\n".utf8))
      exit(error.exitCode)
    }
  }
}
