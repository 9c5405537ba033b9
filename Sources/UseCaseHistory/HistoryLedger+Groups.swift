extension HistoryLedger {
  /// Runs the body of a group, waits for all that has begun in it, and makes an entry of its
  /// parts, or undoes them.
  func run<Value: Sendable>(
    group: Int, _ body: () async throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error>
    let parts: Machine.OpenGroup
    (result, parts) = await HistoryFrame.enter(.group(group), of: self) {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      return (result, await close(group))
    }
    switch result {
    case .success(let value):
      _ = end(parts, applied: nil)
      return value
    case .failure(let error):
      let (applied, failure) = await rollBack(parts.parts.flatMap(\.steps))
      let residue = end(parts, applied: applied)
      guard let failure, let residue else { throw error }
      throw HistoryGroupError(cause: error, undoFailure: failure, residue: residue)
    }
  }

  private func close(_ group: Int) async -> Machine.OpenGroup {
    while true {
      if let parts = change({ $0.closeGroup(group) }) { return parts }
      await withUnsafeContinuation { waiter in
        change { $0.wait(waiter, for: group) }?.resume()
      }
    }
  }

  private func end(_ group: Machine.OpenGroup, applied: Int?) -> HistoryEntry.ID? {
    var end = change { $0.end(group, applied: applied) }
    var drops: Machine.Drops = []
    swap(&drops, &end.drops)
    discard(drops)
    end.waiter?.resume()
    return end.entry
  }

  /// Undoes the steps in a task of its own: the body may have thrown because it was cancelled,
  /// and its parts are undone all the same.
  private func rollBack(_ steps: [any HistoryStep]) async -> (applied: Int, (any Error)?) {
    guard !steps.isEmpty else { return (0, nil) }
    return await Task {
      await HistoryFrame.enter(.body, of: self) {
        var applied = steps.count
        do {
          while applied > 0 {
            try await steps[applied - 1].undo()
            applied -= 1
          }
          return (applied, nil)
        } catch {
          return (applied, error)
        }
      }
    }.value
  }
}
