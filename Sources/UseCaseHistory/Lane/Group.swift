import UseCase
import UseCaseInternals

/// The body of a group, which runs on the lane, or as a part of another group.
struct Group<Value: Sendable, Answer: Sendable>: UseCase, DescribedUseCase {
  let lane: HistoryLane
  let queue: UseCaseQueue
  /// Runs what must not end with the operation of the group.
  let aside: UseCaseQueue
  /// The line of the group around it.
  let outer: GroupLine?
  let line: GroupLine
  let body: @isolated(any) @Sendable () async throws -> Value
  /// Returns the response. `entry` makes the entry, nil if the group has left none.
  let answer: @Sendable (Value, _ entry: () -> HistoryEntry?) -> Answer

  func describe(_ request: Any) -> (any AnyObject & Sendable)? {
    (request as? String).map { HistoryWish(.group(title: $0)) }
  }

  func main(_ title: String) async throws -> Answer {
    let id = lane.idHere
    let parent: HistoryEntry.ID?
    do {
      parent = try begin(id, title)
    } catch {
      line.cancel()
      throw error
    }
    do {
      try await lane.journal?.intent(lane)
    } catch {
      line.cancel()
      _ = await rollBack(id, in: parent)
      throw error
    }
    let result = await run(id)
    // Decided under the lock of the lane: a group that was cancelled before it had an entry gets none.
    // The outer nil says so, and the inner one that the group is empty.
    if case .success(let value) = result,
      let row = lane.change({ [line] machine -> HistoryLane.Machine.Row?? in
        guard !UseCaseQueue.isCancelledHere, line.parts.record() else { return nil }
        return .some(machine.recordGroup(id, in: parent))
      })
    {
      await lane.journal?.settle(lane)
      return answer(value) {
        parent == nil ? lane.entry(of: id) : row.map { $0.entry(isApplied: true) }
      }
    }
    var cause: any Error = CancellationError()
    if case .failure(let error) = result { cause = error }
    // The residue of a group in this one is a part of it, which is undone now, or named in its error.
    if let nested = cause as? HistoryGroupError, lane.read({ $0.hasPart(nested.residue) }) {
      cause = nested.cause
    }
    guard let failure = await rollBack(id, in: parent) else { throw cause }
    throw HistoryGroupError(cause: cause, undoFailure: failure, residue: id)
  }

  /// The group begins. Returns the group around it.
  private func begin(_ id: HistoryEntry.ID, _ title: String) throws -> HistoryEntry.ID? {
    guard let outer else {
      guard lane.change({ $0.beginGroup(id, title: title) }) else {
        preconditionFailure("The group \(id) begins without the lane.")
      }
      line.parts.begin(id, in: UseCaseQueue.operationHere)
      return nil
    }
    guard let operation = UseCaseQueue.operationHere,
      let (parent, _) = try outer.parts.beginPart(operation)
    else { throw HistoryError.outOfTurn }
    lane.change { $0.beginNested(id, in: parent, title: title) }
    line.parts.begin(id, in: operation)
    return parent
  }

  /// Runs the body, and waits for the parts. A group that is cancelled cancels its parts.
  private func run(_ id: HistoryEntry.ID) async -> Result<Value, any Error> {
    let frame = HistoryFrame(.group(line), of: id, in: lane.history)
    line.queue.resume()
    return await withTaskCancellationHandler {
      let result: Result<Value, any Error>
      do {
        result = .success(try await frame.run { try await body() })
      } catch {
        result = .failure(error)
        line.cancel()
      }
      frame.end()
      await line.parts.end()
      return result
    } onCancel: {
      // Observers are not called in here: the runtime holds a lock of the task.
      if line.parts.cancel() { Task { line.cancelParts() } }
    }
  }

  /// Undoes the parts, the newest first. Returns an error if parts are left.
  ///
  /// That is an operation of its own: the parts are undone even if the group was cancelled, and the
  /// timeout of an undo is its failure, and not that of the group.
  private func rollBack(
    _ id: HistoryEntry.ID, in parent: HistoryEntry.ID?
  ) async -> (any Error)? {
    lane.change { $0.beginRollBack(of: id) }
    let undo = AnyUseCase<Void, Void>(queue: aside) { [lane] _ in
      if let failure = await lane.carryOut() { throw failure }
    }
    let outcome = await undo.execute(()).ended()
    let isLeft = lane.change { $0.endRollBack(of: id, in: parent) }
    await lane.journal?.settle(lane)
    guard isLeft else { return nil }
    do {
      try outcome.get()
      return nil
    } catch {
      return error
    }
  }
}
