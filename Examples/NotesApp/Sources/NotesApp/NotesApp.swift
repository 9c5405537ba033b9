import Foundation
import NotesViews
import SwiftUI

#if os(macOS)
  import AppKit
#endif

@main
struct NotesApp: App {
  init() {
    #if os(macOS)
      // A program of a package has no bundle that says that it has windows.
      NSApplication.shared.setActivationPolicy(.regular)
    #endif
  }

  var body: some Scene {
    NotesScene(
      folder: URL(filePath: NSHomeDirectory()).appending(path: "Library/NotesApp"),
      server: URL(string: "http://127.0.0.1:8090") ?? URL(filePath: "/"))
  }
}
