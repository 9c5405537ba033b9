import Foundation
import Testing

@testable import picker

/// A folder that goes away with the test.
final class Folder {
  let path = NSTemporaryDirectory() + "picker-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> TextFile { TextFile(path: "\(path)/\(name)") }
  func bytes(of name: String) -> Data? { FileManager.default.contents(atPath: "\(path)/\(name)") }
  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}

struct TextFileTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test(arguments: ["", "a", "漢 e\u{301}", "two\nlines", "ends\n", "\r"])
  func `what was written is read`(line: String) throws {
    try folder.file("line").write(line)
    let read = try folder.file("line").read()
    #expect(read.unicodeScalars.elementsEqual(line.unicodeScalars))
    #expect(folder.bytes(of: "line") == Data((line + "\n").utf8))
    #expect(folder.names == ["line"])
  }

  @Test(arguments: [("", ""), ("a", "a"), ("a\n", "a"), ("a\r\n", "a\r"), ("a\n\n", "a\n")])
  func `a file of somebody else is read`(content: String, line: String) throws {
    try Data(content.utf8).write(to: URL(filePath: folder.file("line").path))
    #expect(try folder.file("line").read() == line)
  }

  @Test func `a file that is not there is an empty line`() throws {
    #expect(try folder.file("line").read() == "")
    #expect(folder.names == [])
  }

  @Test func `what cannot be read is named`() throws {
    let path = folder.path
    #expect(throws: Failure(message: "cannot read \(path)")) { try TextFile(path: path).read() }
    try Data([0x61, 0xFF]).write(to: URL(filePath: "\(path)/line"))
    #expect(throws: Failure(message: "\(path)/line: this is not UTF-8")) {
      try folder.file("line").read()
    }
  }

  @Test func `what cannot be written is named, and nothing is left behind`() throws {
    let file = folder.file("none/line")
    #expect(throws: Failure(message: "cannot write \(file.path)")) { try file.write("a") }
    let path = folder.path
    #expect(throws: Failure(message: "cannot write \(path)")) { try TextFile(path: path).write("") }
    #expect(folder.names == [])
  }

  @Test func `a link stays a link`() throws {
    try folder.file("line").write("a")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link").path, withDestinationPath: "line")
    try folder.file("link").write("b")
    #expect(try folder.file("line").read() == "b")
  }
}
