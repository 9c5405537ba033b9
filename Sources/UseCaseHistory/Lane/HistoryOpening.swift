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
        pair: { step in
          guard let step = step as? StoredStep else {
            preconditionFailure("What is in a journal is stored.")
          }
          return (step.id, step.pair)
        },
        title: { [writer] in try writer.title($0) }))
    let records = try await records()
    try read(records, into: &replay)
    UseCaseOperationID.raise(above: replay.newest.number)
    writer.continue(after: replay.last)
    do {
      for doubt in try replay.open() { replay.answer(doubt, await settle(doubt)) }
      try replay.finish(interruption)
      try replay.tell(.limited(limit), nil)
    } catch is Replay.Malformed {
      throw HistoryJournalError(.damaged(offset: records.count))
    }
    let groups = try await take(replay)
    for group in groups { await compensate(group) }
    core.ledger.keepJournalShort()
    await writer.flush()
    if let error = writer.error { throw error }
  }

  private func records() async throws -> [[UInt8]] {
    do {
      return try await writer.journal.read()
    } catch {
      throw error as? HistoryJournalError ?? HistoryJournalError(.cannotRead, cause: error)
    }
  }

  private func read(_ records: [[UInt8]], into replay: inout Replay) throws {
    for (index, record) in records.enumerated() {
      do {
        try FactRecord.read(record) { number, fact in try replay.tell(fact, number) }
      } catch is FactReader.Malformed, is Replay.Malformed {
        throw HistoryJournalError(.damaged(offset: index))
      } catch {
        throw HistoryJournalError(.cannotRead, cause: error)
      }
    }
  }

  private func settle(_ doubt: JournalDoubt) async -> JournalAnswer {
    guard let kind = writer.kinds[doubt.pair.name] else { return .unreadable }
    // So that `settle` can ask a server for the entry.
    let frame = HistoryFrame(
      .body, HistoryLane.Entrance(slot: doubt.id, entry: doubt.id), of: core.ledger.history,
      in: nil, inside: .innermost)
    defer { frame.end() }
    return await HistoryFrame.local.withValue(.inside(frame)) {
      await kind.settle(doubt, writer.journal.coder)
    }
  }

  /// Puts what was read into the machine and writes the journal anew. Returns the groups that are to
  /// be undone.
  private func take(
    _ replay: consuming Replay
  ) async throws -> [HistoryLedger.Machine.Groups.Closed] {
    let inDoubt = replay.inDoubt
    for (record, isAsked) in inDoubt where isAsked { doubt(record) { _ in true } }
    let (pool, doubts) = (replay.pool, replay.doubts)
    if !doubts.isEmpty {
      let (applied, undone, _) = pool.contents
      for record in applied.elements + undone.elements { doubt(record) { doubts.contains($0.id) } }
    }
    let groups = replay.groups.sorted { $0.key < $1.key }
    for (_, group) in groups {
      for part in group.parts { doubt(part) { doubts.contains($0.id) } }
    }
    let drops = replay.drops.map { (step: $0.step, reason: $0.reason) }
    core.ledger.change { machine in
      machine.open(pool, inDoubt: inDoubt.map(\.record))
    }
    try await write(groups.map { ($0.key, $0.value.title, $0.value.parts) }, drops)
    writer.discard(drops.map { HistoryDrop(record($0.step), $0.reason) })
    return groups.map { id, group in
      HistoryLedger.Machine.Groups.Closed(
        id: id, title: group.title, parent: nil, parts: group.parts)
    }
  }

  private func record(_ step: any HistoryStep) -> HistoryRecord<any HistoryStep> {
    HistoryRecord(id: step.journaled ?? .next(), content: .single(step))
  }

  private func doubt(
    _ record: HistoryRecord<any HistoryStep>, where isDoubted: (StoredStep) -> Bool
  ) {
    for case let step as StoredStep in record.leaves.map(\.content.step) where isDoubted(step) {
      step.doubt()
    }
  }

  private func write(
    _ groups: [(id: HistoryEntry.ID, title: String, parts: [HistoryRecord<any HistoryStep>])],
    _ drops: [(step: any HistoryStep, reason: HistoryDiscardReason)]
  ) async throws {
    guard var whole = core.ledger.whole else { preconditionFailure("Nothing runs yet.") }
    (whole.groups, whole.drops) = (groups, drops)
    do {
      try await writer.rewrite(whole.facts { writer.bytes(of: $0) })
    } catch {
      throw error as? HistoryJournalError ?? HistoryJournalError(.cannotWrite, cause: error)
    }
  }

  private func compensate(_ group: HistoryLedger.Machine.Groups.Closed) async {
    let operation = Group<Void>(core: core, nested: nil, interrupted: group) {
      throw Interruption()
    }
    .execute(group.title)
    // The rest, which could not be undone, is an entry.
    _ = try? await operation.value
  }
}
