import Foundation
import NotesWire
import UseCase
import UseCaseHistory

/// Makes a note of each line.
///
/// If the process ends meanwhile, the next one takes back what is there, or keeps it with `--keep`.
/// If it fails, the notes that it has imported stay, and are one entry of the history: nobody has to
/// import them again. If it is cancelled, they are taken back, as a group is. A note that was on its
/// way is waited for; only if its answer never came, because the server died, it may be there
/// without being a part of that entry.
struct ImportNotes: ReportingUseCase {
  struct Request: Sendable {
    let name: String
    let texts: [String]
  }

  struct Update: Hashable, Sendable {
    let done: Int
    let total: Int
  }

  struct Response: Sendable {
    let done: Int
    /// The error that has stopped it, if it has been stopped.
    let failure: (any Error)?
  }

  let newNote: RecordedUseCase<NewNote>
  let paper: Paper
  let history: UseCaseHistory
  let queue = UseCaseQueue(.dropWhileBusy)

  func main(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response {
    // The first note waits until a cancellation would be heard.
    let (isReady, ready) = AsyncStream.makeStream(of: Never.self)
    let group = history.group("Import \(request.name)") { [newNote, paper] in
      for await _ in isReady {}
      var done = 0
      do {
        for text in request.texts {
          _ = try await newNote(paper.note(text))
          done += 1
          report(Update(done: done, total: request.texts.count))
        }
        return Response(done: done, failure: nil)
      } catch {
        // A group that threw would take back what is there.
        return Response(done: done, failure: error)
      }
    }
    return try await withTaskCancellationHandler {
      ready.finish()
      return try await group.ended().get()
    } onCancel: {
      group.cancel()
    }
  }
}
