import Foundation
import NotesModels
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Server {
  /// A server whose requests are cancelled a moment later, by another thread.
  ///
  /// On Linux, `URLSession.data(for:)` of Swift 6.3.1 can wait for ever when its task is cancelled in
  /// the moment in which the answer arrives: the cancellation waits for the queue of the session,
  /// which waits for the lock of the task.
  package static func patient(_ root: URL) -> Server {
    Server(root) { request in
      let running = RunningRequest()
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let task = URLSession.shared.dataTask(with: request) { data, response, error in
            if let data, let response {
              continuation.resume(returning: (data, response))
            } else {
              continuation.resume(throwing: error ?? URLError(.unknown))
            }
          }
          running.task.withLock { $0 = task }
          task.resume()
          if Task.isCancelled { task.cancel() }
        }
      } onCancel: {
        DispatchQueue.global().async { running.task.withLock { $0 }?.cancel() }
      }
    }
  }
}

private final class RunningRequest: Sendable {
  let task = Mutex<URLSessionDataTask?>(nil)
}
