import Foundation
import Synchronization
import UseCase

/// Makes a good connection as bad as real ones: slow, unreliable, or absent.
final class Trouble: UseCaseInterceptor {
  struct Settings: Hashable, Sendable {
    var latency = Duration.zero
    /// How many of the next requests fail, as with a server that is too busy.
    var failures = 0
    var isOffline = false
    /// The number of the request at which the process ends, as with `kill -9`. 0 for none.
    var killAt = 0
  }

  private let state: Mutex<Settings>

  init(_ settings: Settings = Settings()) {
    state = Mutex(settings)
  }

  func change(_ change: (inout sending Settings) -> Void) {
    state.withLock { change(&$0) }
  }

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    let now = state.withLock { settings in
      settings.killAt -= 1
      if settings.killAt == 0 { kill(getpid(), SIGKILL) }
      defer { if !settings.isOffline { settings.failures = max(0, settings.failures - 1) } }
      return settings
    }
    if now.isOffline { throw NotesError.offline }
    if now.latency > .zero { try await Task.sleep(for: now.latency) }
    if now.failures > 0 { throw NotesError.busy }
    return try await next(request)
  }
}
