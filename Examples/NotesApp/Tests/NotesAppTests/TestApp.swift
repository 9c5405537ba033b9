import Foundation
import KilledApp
import NotesModels
import Observation
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

/// A folder that goes away with the test.
final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: "notes-app-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// The folder as it would be found if the process ended now.
  init(copy folder: Folder) throws { try FileManager.default.copyItem(at: folder.url, to: url) }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// A launch of the app, on a clock that the test advances.
@MainActor
struct TestApp {
  let folder: Folder
  let clock = ManualClock()
  let app: AppModel

  init(_ server: TestServer, in folder: Folder? = nil) async throws {
    let folder = try folder ?? Folder()
    self.folder = folder
    let url = try #require(URL(string: server.address))
    app = try await OpenNotes(in: folder.url, server: .stubborn(url), clock: clock)(())
  }

  /// The app after a kill.
  func relaunched(_ server: TestServer) async throws -> TestApp {
    try await TestApp(server, in: Folder(copy: folder))
  }

  /// Undoes the newest edit of all notes, or of one.
  func undo(_ edits: HistoryModel? = nil) async throws {
    try await app.notebook.follow((edits ?? app.notebook.edits).undo()).settled()
  }

  func redo(_ edits: HistoryModel? = nil) async throws {
    try await app.notebook.follow((edits ?? app.notebook.edits).redo()).settled()
  }

  /// Lets a pause of the clock pass.
  func pass(_ duration: Duration) async throws {
    try await clock.sleeping(for: duration)
    await clock.advance(by: duration)
  }

  /// Waits until a change of the models makes this true.
  func until(_ isTrue: @escaping @MainActor () -> Bool) async throws {
    while !isTrue() {
      let gate = Gate()
      withObservationTracking {
        _ = isTrue()
      } onChange: {
        gate.open()
      }
      try await gate.pass()
    }
  }
}
