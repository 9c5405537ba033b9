import Foundation
import Testing
import UseCaseJournal

struct JSONHistoryCoderTests {
  private let coder = JSONHistoryCoder()

  @Test func `numbers and texts have the bytes that the encoder of Foundation makes`() throws {
    let encoder = JSONEncoder()
    for number in [0, 7, -7, 4_999, .min, .max] {
      let bytes = try coder.encode(number)
      #expect(try bytes == Array(encoder.encode(number)))
      #expect(try coder.decode(Int.self, from: bytes) == number)
    }
    let long = String(repeating: "Report, ", count: 100)
    let letters = (0...0x2fff).compactMap(Unicode.Scalar.init).map { String($0) }
    for text in ["", "Report", "Año 🎉", "e\u{301}", "a\"b\\c/d\n\0\u{7f}", long] + letters {
      let bytes = try coder.encode(text)
      #expect(try bytes == Array(encoder.encode(text)))
      #expect(try coder.decode(String.self, from: bytes) == text)
    }
  }
}
