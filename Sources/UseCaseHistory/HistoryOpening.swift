import UseCase

/// Opens a history: reads and checks its rows, settles what is in doubt, and recovers what was
/// interrupted.
struct HistoryOpening {
  private typealias Table = HistoryTable<any HistoryStep>

  let writer: JournalWriter
  private var table: Table

  /// Reads the rows of the journal.
  init(_ journal: any HistoryJournal, _ kinds: JournalKinds) async throws {
    let read: HistoryRows
    do {
      read = try await journal.read()
    } catch {
      throw HistoryJournalError(.cannotRead, for: error)
    }
    let head = try Self.head(of: read)
    var rows: [Table.Row] = []
    rows.reserveCapacity(read.rows.count)
    var names: [String: String] = [:]
    for (key, bytes) in read.rows where key != RowFormat.headKey {
      rows.append(try Self.row(key, bytes, kinds, &names))
    }
    do {
      table = try Table(rows, head: head.head)
    } catch let damage as Table.Damage {
      throw HistoryJournalError(.damaged(offset: Int(clamping: damage.id.number)))
    }
    let newest = rows.lazy.map(\.id.number).max() ?? 0
    writer = JournalWriter(journal, kinds, version: read.version, head: head, newest: newest)
  }

  private static func head(of read: HistoryRows) throws -> HeadRow {
    guard let bytes = read.rows[RowFormat.headKey] else {
      let key = read.rows.keys.first
      if key == nil, read.version >= 0 { return HeadRow(Table.Head(), newestID: 0) }
      throw HistoryJournalError(.damaged(offset: Int(clamping: key ?? 0)))
    }
    guard bytes.first == RowFormat.version else { throw HistoryJournalError(.foreign) }
    guard let head = HeadRow(bytes), read.version >= 0 else {
      throw HistoryJournalError(.damaged(offset: 0))
    }
    return head
  }

  private static func row(
    _ key: Int64, _ bytes: [UInt8], _ kinds: JournalKinds, _ names: inout [String: String]
  ) throws -> Table.Row {
    guard let id = UInt64(exactly: key), let (found, title, pair) = Table.Row.read(id, bytes) else {
      throw HistoryJournalError(.damaged(offset: Int(clamping: key)))
    }
    var row = found
    guard var pair else {
      row.title = (try? kinds.coder.decode(String.self, from: title)) ?? ""
      return row
    }
    // Most entries share a few names.
    if let name = names[pair.name] {
      pair = HistoryPair(
        name: name, title: pair.title, request: pair.request, response: pair.response)
    } else {
      names[pair.name] = pair.name
    }
    let step = StoredStep(pair, kinds)
    row.step = step
    if row.state != .leaving {
      let made = try? step.step
      if made != nil || row.state == .executing && step.isReadable {
        if let made, row.marks.contains(.keyed) { row.footprint = made.footprint }
      } else {
        row.marks.insert(.unreadable)
      }
    }
    if !row.marks.contains(.unreadable) { row.marks.remove(.keyed) }
    return row
  }

  /// Settles and recovers, and gives the history its table.
  mutating func finish(
    _ history: UseCaseHistory, _ interrupted: HistoryInterruption, _ limit: Int?
  ) async throws {
    let lane = history.lane
    // The table is moved, so that its first change copies no rows.
    var table = Table(limit: nil)
    swap(&table, &self.table)
    let answers = await settle(table.doubts, lane)
    try Task.checkCancellation()
    let found: Table.Interrupted
    do {
      found = try table.finishOpening(
        answers, keepsGroups: interrupted == .keep)
      table.setLimit(limit)
    } catch let damage as Table.Damage {
      throw HistoryJournalError(.damaged(offset: Int(clamping: damage.id.number)))
    }
    let opened = table
    lane.change { $0.take(opened) }
    try await writer.intent(lane)
    var recovery = HistoryRecovery()
    let kept = Set(found.kept)
    recovery.kept = lane.entries.filter { kept.contains($0.id) }
    try await recover(found.recoverable, history, &recovery)
    lane.change { $0.endRecovery() }
    if writer.database != nil, lane.isBusy {
      // A step of the recovery has not returned, and is in a transaction.
      writer.start(lane)
    } else {
      await writer.settleAll(lane)
    }
    if let error = writer.fatalError { throw error }
    for entry in lane.entries {
      switch entry.standing {
      case .inDoubt: recovery.inDoubt.append(entry)
      case .unreadable: recovery.unreadable.append(entry)
      case .normal, .interrupted: break
      }
    }
    writer.recovered(recovery)
  }

  private func settle(
    _ doubts: [Table.Row], _ lane: HistoryLane
  ) async -> [HistoryEntry.ID: Table.Settlement] {
    var answers: [HistoryEntry.ID: Table.Settlement] = [:]
    for row in doubts {
      guard let step = row.step as? StoredStep else { continue }
      // In a frame, so that `settle` can name the entry to a server.
      let frame = HistoryFrame(.answered, of: row.id, in: lane.history)
      let answer = await frame.run { await step.settle(row.state) }
      frame.end()
      switch answer {
      case .hadNoEffect: answers[row.id] = .hadNoEffect
      case .hadEffect(let response):
        let answered = row.state == .undoing ? step : step.answered(response)
        answers[row.id] = .hadEffect(answered, answered.footprint)
      case .unknown: answers[row.id] = .unknown
      // A part does not wait for a version of the app that can read it.
      case nil: if row.parent != .nobody { answers[row.id] = .unknown }
      }
    }
    return answers
  }

  // MARK: Recovery

  /// Takes groups back, and carries undos on, the newest first.
  private func recover(
    _ ids: [HistoryEntry.ID], _ history: UseCaseHistory, _ recovery: inout HistoryRecovery
  ) async throws {
    let lane = history.lane
    let recovered = Set(ids)
    var rows = lane.read { $0.table.applied.filter { recovered.contains($0.id) } }
      .sorted { $0.stamp > $1.stamp }[...]
    while let row = rows.popFirst() {
      let entry = row.entry(isApplied: true)
      if let error = row.reasonNotToTry {
        recovery.failed.append(.init(entry: entry, error: error))
        continue
      }
      let operation = HistoryFrame.outside {
        Move(lane: lane, queue: history.queue, purpose: .recovery) { $0.first }
          .execute(.undoEntry(row.id))
      }
      do {
        let undone = try await operation.valueOrCancel() ?? entry
        if row.marks.contains(.incomplete) {
          recovery.takenBack.append(entry)
        } else {
          recovery.finished.append(undone)
        }
      } catch {
        try Task.checkCancellation()
        if let error = writer.fatalError { throw error }
        // Of a group that was obsolete nothing is left.
        guard let entry = lane.entry(of: row.id) else { continue }
        recovery.failed.append(.init(entry: entry, error: error))
        if operation.state != .finished || lane.isBusy {
          // The body has the lane until it returns.
          for row in rows {
            recovery.failed.append(.init(entry: row.entry(isApplied: true), error: error))
          }
          return
        }
      }
    }
  }

}

extension HistoryRow {
  /// Why no recovery tries to undo it.
  var reasonNotToTry: (any Error)? {
    if tries >= 2 { return HistoryRecoveryGivenUp() }
    let next = leaves.last { $0.state == .applied }
    if next?.marks.contains(.inDoubt) == true { return HistoryJournalError(.inDoubt) }
    return nil
  }
}

/// The undo of an interrupted group was not tried again at an opening.
struct HistoryRecoveryGivenUp: Error, CustomStringConvertible {
  var description: String {
    "The app has ended twice while this step was being taken back. It was not tried again."
  }
}
