import Testing

@testable import picker

struct ScriptTests {
  private func script(_ text: String) throws -> [Script.Action] {
    try Script(text.utf8, name: "demo").steps.map(\.action)
  }

  @Test func `each line is a step`() throws {
    let script = try script(
      """
      # a comment

      type ca t
      burst ←
      press down ctrl-u\r
      bytes e2 86 90 1b ff
      size 20 5
      """)
    #expect(
      script == [
        .press(
          [.character("c"), .character("a"), .character(" "), .character("t")], isBurst: false),
        .press([.character("←")], isBurst: true),
        .press([.down, .control("u")], isBurst: false),
        .press([.character("←"), .escape, .invalid(0xFF)], isBurst: false),
        .resize(TerminalSize(columns: 20, rows: 5)),
      ])
  }

  @Test(arguments: [
    ("tpye x", "unknown command 'tpye'"), ("press retrun", "unknown key 'retrun'"),
    ("bytes e2 xx", "'xx' is not a byte"), ("bytes 100", "'100' is not a byte"),
    ("size 20", "size needs two numbers from 1 to 1000"),
    ("size 0 5", "size needs two numbers from 1 to 1000"),
    ("size 20 five", "size needs two numbers from 1 to 1000"),
  ])
  func `a line that says nothing is named`(line: String, message: String) {
    #expect(throws: Failure(message: "demo, line 2: \(message) (see picker --help)", exitCode: 2)) {
      try script("# first\n\(line)")
    }
  }

  @Test func `a byte that is not UTF-8 is named by its line`() {
    #expect(throws: Failure(message: "demo, line 2: this is not UTF-8")) {
      try Script(Array("type a\ntype ".utf8) + [0xFF], name: "demo")
    }
  }

  @Test func `a missing file is named`() {
    #expect(throws: Failure(message: "cannot read /does/not/exist")) {
      try Script(contentsOf: "/does/not/exist")
    }
  }

  @Test func `an empty script is a script`() throws {
    #expect(try script("").isEmpty)
  }
}

struct ArgumentsTests {
  @Test(
    arguments: [
      ([], nil, nil), (["--script", "a"], "a", nil), (["--file", "b"], nil, "b"),
      (["--file", "b", "--script", "a"], "a", "b"), (["--file", "--script"], nil, "--script"),
    ] as [([String], String?, String?)])
  func `arguments say where keys and text come from`(
    words: [String], script: String?, file: String?
  ) throws {
    let arguments = try Arguments(words)
    #expect(arguments.script == script)
    #expect(arguments.file == file)
    #expect(!arguments.asksForHelp)
  }

  @Test(arguments: [["--help"], ["--script", "a", "-h"], ["--file", "--help"]])
  func `asking for help is always answered`(words: [String]) throws {
    #expect(try Arguments(words).asksForHelp)
  }

  @Test(arguments: [
    (["--scrpt"], "unknown argument '--scrpt'"),
    (["--script"], "--script needs the name of a file"),
    (["--file"], "--file needs the name of a file"),
    (["--file", ""], "--file needs the name of a file"),
    (["--script", "a", "b"], "unknown argument 'b'"), (["a"], "unknown argument 'a'"),
  ])
  func `a wrong argument is named`(words: [String], message: String) {
    #expect(throws: Failure(message: "\(message) (see picker --help)", exitCode: 2)) {
      try Arguments(words)
    }
  }
}
