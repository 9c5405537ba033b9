import Testing

@testable import LocalServer

struct HTTPRequestTests {
  private func parse(_ text: String) throws(HTTPAnswer) -> HTTPRequest? {
    var parser = HTTPRequestParser()
    return try parser.parse(text.utf8)
  }

  private func status(_ text: String) -> Int? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      return error.status
    }
  }

  @Test func `a request is the same however its bytes arrive`() throws {
    let text =
      "PUT /notes/a HTTP/1.1\r\nHost: x\r\nIF-Match:  \"1\" \r\nContent-Length: 3\r\n\r\nabcGET"
    let whole = try parse(text)
    #expect(
      whole
        == HTTPRequest(
          method: "PUT", target: "/notes/a",
          headers: ["host": "x", "if-match": "\"1\"", "content-length": "3"],
          body: Array("abc".utf8)))
    let bytes = Array(text.utf8.dropLast(3))
    for size in 1...bytes.count {
      var parser = HTTPRequestParser()
      var requests: [HTTPRequest] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        let end = min(start + size, bytes.count)
        if let request = try parser.parse(bytes[start..<end]) { requests.append(request) }
      }
      #expect(requests == [whole])
    }
  }

  @Test func `what has not arrived yet is waited for`() throws {
    let heads = [
      "", "G", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
    ]
    for text in heads { #expect(try parse(text) == nil) }
  }

  @Test(arguments: [
    ("\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n\r\n", 400),
    ("GET notes HTTP/1.1\r\n\r\n", 400), ("G(T / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\nHost\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nContent-Length: 16385\r\n\r\n", 413),
    ("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
  ])
  func `what is no request is refused with a reason`(text: String, status: Int) {
    #expect(self.status(text) == status)
  }

  @Test func `a head may not go on for ever`() {
    let long = "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 9000)
    #expect(status(long) == 431)
    #expect(status(long + "\r\n\r\n") == 431)
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    var parser = HTTPRequestParser()
    #expect(throws: HTTPAnswer.bad("the head is not UTF-8")) {
      try parser.parse(Array("GET /".utf8) + [0xFF] + Array(" HTTP/1.1\r\n\r\n".utf8))
    }
  }

  @Test func `random bytes are refused or waited for`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var parser = HTTPRequestParser()
      let alphabet = Array("GET / HTTP/1.1\r\n:\0\u{7F}é ".utf8)
      let bytes = (0..<60).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      do {
        _ = try parser.parse(bytes + [13, 10, 13, 10])
      } catch {
        #expect([400, 505].contains(error.status))
      }
    }
  }
}
