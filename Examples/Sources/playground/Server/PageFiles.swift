import Foundation

/// The files of the page: one of HTML, one of CSS and one of JavaScript.
struct PageFiles: Sendable {
  struct File: Sendable {
    let name: String
    let type: String
    let data: Data
  }

  let files: [File]

  init() throws(Failure) {
    let types = [
      "index.html": "text/html", "playground.css": "text/css", "playground.js": "text/javascript",
    ]
    let folder = Bundle.module.bundleURL.appending(path: "Page")
    var files: [File] = []
    for (name, type) in types.sorted(by: { $0.key < $1.key }) {
      guard let data = try? Data(contentsOf: folder.appending(path: name)) else {
        throw Failure("cannot read \(name) of the page")
      }
      files.append(File(name: name, type: "\(type); charset=utf-8", data: data))
    }
    self.files = files
  }

  /// The file that a request asks for, `/` being the page.
  func file(at target: String) -> File? {
    let path = target.prefix { $0 != "?" }.dropFirst()
    return files.first { $0.name == (path.isEmpty ? "index.html" : path) }
  }
}
