import Testing

@testable import playground

struct ArgumentsTests {
  @Test func `a port and a folder are read`() throws {
    let arguments = try Arguments(["--port", "8080", "--record", "page"])
    #expect(arguments.port == 8080 && arguments.folder == "page")
  }

  @Test(arguments: [["--port"], ["--port", "x"], ["--port", "65536"], ["--record"], ["x"]])
  func `what makes no sense is refused with a hint`(arguments: [String]) {
    let failure = #expect(throws: Failure.self) { try Arguments(arguments) }
    #expect(failure?.exitCode == 2 && failure?.message.hasSuffix("--help)") == true)
  }
}
