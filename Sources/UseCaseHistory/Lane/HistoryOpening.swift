import UseCase

/// Makes a history again of its journal.
struct HistoryOpening {
  typealias Replay = HistoryReplay<any HistoryStep>

  private struct Interruption: Error {}

  let core: HistoryCore
  let writer: JournalWriter

  func run(_ interruption: HistoryInterruption, _ limit: Int?) async throws {
    var replay = Replay(
      Replay.Making(
        content: { [writer] id, pair in
          let step = StoredStep(id, pair, writer)
          return pair.isMarked ? .init(step) : .single(step)
        },
        pair: { ($0.stored.id, $0.stored.pair) },
        doubt: { $0.stored.isInDoubt = $1 },
        title: { [writer] in try writer.title($0) }))
    let records = try await records()
    try read(records, into: &replay)
    if let newest = replay.newest { writer.begin(behind: newest) }
    do {
      for doubt in try replay.open() { try replay.answer(doubt, await settle(doubt)) }
      try replay.finish(interruption)
      replay.setLimit(limit)
    } catch let error as Replay.Malformed {
      throw HistoryJournalError(.damaged(offset: records.count), cause: error)
    }
    let interrupted = replay.interrupted
    try await take(replay)
    for group in interrupted { await compensate(group) }
    core.ledger.keepJournalShort()
    await writer.flush()
    if let error = writer.error { throw error }
  }

  private func records() async throws -> [[UInt8]] {
    do {
      return try await writer.journal.read()
    } catch {
      throw HistoryJournalError(.cannotRead, for: error)
    }
  }

  private func read(_ records: [[UInt8]], into replay: inout Replay) throws {
    for (index, record) in records.enumerated() {
      do {
        try FactRecord.read(record) { number, fact in try replay.tell(fact, number) }
      } catch let error as Replay.Malformed {
        throw HistoryJournalError(.damaged(offset: index), cause: error)
      } catch {
        throw HistoryJournalError(.cannotRead, cause: error)
      }
    }
  }

  private func settle(_ doubt: JournalDoubt) async -> JournalAnswer {
    guard let kind = writer.kinds[doubt.pair.name] else { return .unreadable }
    // In a frame, so that `settle` can name the entry to a server.
    let frame = HistoryFrame(
      .body, HistoryLane.Entrance(holder: doubt.id, entry: doubt.id), of: core.ledger.history,
      in: nil, inside: .innermost)
    defer { frame.end() }
    // A cancellation of the caller changes nothing: an answer that fails is never asked for again.
    return await HistoryFrame.local.withValue(.inside(frame)) {
      Task { [coder = writer.journal.coder] in await kind.settle(doubt, coder) }
    }.value
  }

  /// Puts the restored history into the machine, and writes the journal anew.
  private func take(_ replay: consuming Replay) async throws {
    let (pool, inDoubt) = (replay.pool, replay.inDoubt)
    core.ledger.change { $0.open(pool, inDoubt: inDoubt) }
    guard var whole = core.ledger.whole else { preconditionFailure("Nothing runs yet.") }
    (whole.interrupted, whole.drops) = (replay.interrupted, replay.drops)
    do {
      try await writer.rewrite(whole.facts(newest: writer.nextID()) { writer.bytes(of: $0) })
    } catch {
      throw HistoryJournalError(.cannotWrite, for: error)
    }
    writer.discard(
      replay.drops.map { step, reason in
        HistoryDrop(HistoryRecord(id: step.stored.id, content: .single(step)), reason)
      })
  }

  private func compensate(_ group: HistoryRecord<any HistoryStep>) async {
    guard case .group(let content) = group.content else {
      preconditionFailure("Only groups are rolled back.")
    }
    let closed = HistoryLedger.Machine.Groups.Closed(
      id: group.id, title: content.title, parent: nil, parts: content.parts)
    let operation = Group<Void>(core: core, nested: nil, interrupted: closed) {
      throw Interruption()
    }
    .execute(content.title)
    // Parts that could not be undone become an entry. A cancellation of the caller changes nothing.
    await operation.ended()
  }
}
