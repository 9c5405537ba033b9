import Foundation
import NotesModels

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Server {
  /// A server whose answers arrive even if their task was cancelled, so that late ones are tested.
  ///
  /// It also keeps away from `URLSession.data(for:)` of Swift 6.3.1 on Linux. When a request is
  /// cancelled in the moment in which its answer arrives or its connection fails, the process may
  /// hang or end there.
  package static func stubborn(_ root: URL) -> Server {
    Server(root) { request in
      try await withCheckedThrowingContinuation { continuation in
        URLSession.shared.dataTask(with: request) { data, response, error in
          if let data, let response {
            continuation.resume(returning: (data, response))
          } else {
            continuation.resume(throwing: error ?? URLError(.unknown))
          }
        }.resume()
      }
    }
  }
}
