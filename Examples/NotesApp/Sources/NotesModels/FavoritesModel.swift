import Observation
import UseCase

package struct SetFavorite: UseCase {
  package struct Request: Sendable {
    let id: Note.ID
    let isFavorite: Bool
  }

  let server: Server
  let lanes = UseCaseLanes<Note.ID>(.keepLatest)
  package let timeout = Duration.seconds(10)

  package func queue(for request: Request) -> UseCaseQueue { lanes[request.id] }

  package func main(_ request: Request) async throws {
    let _: Bool = try await server.put("favorites/\(request.id)", request.isFavorite)
  }
}

package struct LoadFavorites: UseCase {
  let server: Server
  package let queue = UseCaseQueue(.cancelPrevious)

  package func main(_: Void) async throws -> Set<Note.ID> { try await server.get("favorites") }
}

/// The stars. A tap is shown at once. One that fails is taken back, and the stars are loaded again:
/// perhaps the server has it, and only the answer was lost.
@MainActor @Observable
package final class FavoritesModel {
  package let ids = OptimisticValue<Set<Note.ID>>([])
  package let loading: UseCaseModel<LoadFavorites>
  /// Why the stars are perhaps not those of the server.
  package private(set) var message: String?
  private let setFavorite: SetFavorite

  init(server: Server) {
    setFavorite = SetFavorite(server: server)
    loading = UseCaseModel(LoadFavorites(server: server))
  }

  @discardableResult
  package func tap(_ id: Note.ID) -> UseCaseOperation<SetFavorite.Request, Void> {
    let isFavorite = !ids.value.contains(id)
    return ids.change(setFavorite.execute(.init(id: id, isFavorite: isFavorite))) { ids in
      if isFavorite { ids.insert(id) } else { ids.remove(id) }
    }
    .catch { [weak self] error in
      self?.message = "The star was taken back. \(error)"
      self?.load()
    }
  }

  @discardableResult
  package func load() -> UseCaseOperation<Void, Set<Note.ID>> {
    let mark = ids.mark()
    return loading.execute()
      .then { [weak self] found in
        self?.ids.confirm(found, since: mark)
        self?.message = nil
      }
      .catch { [weak self] error in
        if self?.message == nil { self?.message = "The stars could not be loaded. \(error)" }
      }
  }
}
