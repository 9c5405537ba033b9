// What will be when everything asked for has run: what an undo or a redo called now is for.
extension HistoryMachine {
  /// The records as they are up to `kept`, the executions behind them, and the cursor among them.
  ///
  /// Positions are counted from the first record that the history ever had.
  struct Forecast: Sendable {
    var cursor: Int
    var oldest: Int
    var kept: Int
    /// How many of the executions that are `expected` are in it.
    var executions = 0
    var isPartial: Bool

    var end: Int { kept + executions }
  }

  var present: Forecast {
    mutating get {
      let cursor = evicted + applied.count
      return Forecast(
        cursor: cursor, oldest: evicted, kept: cursor + undone.count, isPartial: partial != nil)
    }
  }

  /// Brings the forecast behind what `pending` does if it succeeds.
  mutating func advance(_ forecast: inout Forecast, by pending: Pending) {
    switch pending.ask {
    case .execution, .group:
      guard willBeRecorded(pending) else { return }
      forecast.kept = min(forecast.kept, forecast.cursor)
      while forecast.end > forecast.cursor {
        forecast.executions -= 1
        _ = expected.popLast()
      }
      forecast.executions += 1
      expected.append(pending.operation)
      forecast.cursor += 1
      forecast.isPartial = false
      if let limit { forecast.oldest = max(forecast.oldest, forecast.cursor - limit) }
    case .undo:
      guard let target = pending.target, resolved(target) == undoTarget(in: forecast)
      else { return }
      forecast.cursor -= 1
      forecast.isPartial = false
    case .redo:
      guard let target = pending.target, resolved(target) == redoTarget(in: forecast)
      else { return }
      forecast.cursor += forecast.isPartial ? 0 : 1
      forecast.isPartial = false
    case .move(let id):
      if let id, let position = position(of: id) {
        guard position < forecast.kept, position >= forecast.oldest else { return }
        forecast.cursor = position + 1
      } else {
        // One that runs may have lost its goal to a lower limit, and still goes there.
        guard id == nil || moving != nil && pending.operation == holder else { return }
        forecast.cursor = forecast.oldest
      }
      forecast.isPartial = false
    }
  }

  /// Returns what will be after all that waits and runs.
  mutating func ahead() -> Forecast {
    if pending.isEmpty { return present }
    if let forecast { return forecast }
    let forecast = simulate(executionsFail: false)
    self.forecast = forecast
    return forecast
  }

  private mutating func simulate(executionsFail: Bool) -> Forecast {
    var forecast = present
    if !executionsFail { expected = HistoryStack() }
    for pending in pending where !pending.isGone {
      if pending.isExecution, executionsFail { continue }
      advance(&forecast, by: pending)
    }
    return forecast
  }

  mutating func undoTarget(in forecast: Forecast) -> Target? {
    forecast.cursor > forecast.oldest ? target(at: forecast.cursor - 1, in: forecast) : nil
  }

  mutating func redoTarget(in forecast: Forecast) -> Target? {
    if forecast.isPartial { return undoTarget(in: forecast) }
    return forecast.cursor < forecast.end ? target(at: forecast.cursor, in: forecast) : nil
  }

  private mutating func target(at position: Int, in forecast: Forecast) -> Target {
    position < forecast.kept
      ? .entry(record(at: position).id) : .execution(expected[position - forecast.kept])
  }

  /// Returns what is meant by what is asked now.
  ///
  /// A redo behind an execution is for what would come next if that failed: a failed execution
  /// does not cost the branch.
  mutating func target(for ask: HistoryAsk) -> Target? {
    switch ask {
    case .execution, .group, .move: nil
    case .undo: nextUndo()
    case .redo: nextRedo()
    }
  }

  private mutating func nextRedo() -> Target? {
    if let target = redoTarget(in: ahead()) { return target }
    return executions > 0 ? redoTarget(in: simulate(executionsFail: true)) : nil
  }

  private mutating func nextUndo() -> Target? {
    if limit != 0, let last = pending.last, last.isExecution, willBeRecorded(last) {
      return .execution(last.operation)
    }
    return undoTarget(in: ahead())
  }

  private mutating func willBeRecorded(_ execution: Pending) -> Bool {
    !isCleared || execution.operation != holder
  }
}

// MARK: - Positions

extension HistoryMachine {
  mutating func record(at position: Int) -> Record {
    let index = position - evicted
    return index < applied.count
      ? applied[index] : undone[undone.count - 1 - (index - applied.count)]
  }

  /// Ids grow from the first applied record to the last undone one.
  mutating func position(of id: ID) -> Int? {
    let count = applied.count + undone.count
    let index: Int
    if let newest = applied.last, newest.id >= id {
      index = applied.firstIndex(behind: { $0.id >= id })
    } else {
      index = count - undone.firstIndex(behind: { $0.id <= id }) - 1
    }
    guard index >= 0, index < count, record(at: evicted + index).id == id else { return nil }
    return evicted + index
  }
}

// MARK: - State

/// What the title of an entry is made of, outside of the lock.
enum HistoryLabel<Step: Sendable>: Sendable {
  case step(Step)
  case text(String)
}

extension HistoryMachine {
  /// The state without its titles, and what they are made of.
  struct Snapshot: Sendable {
    var state: HistoryState
    var undo: HistoryLabel<Step>?
    var redo: HistoryLabel<Step>?
  }

  mutating func snapshot() -> Snapshot {
    let undo = nextUndo()
    let redo = executions == 0 ? redoTarget(in: ahead()) : nil
    let state = HistoryState(
      canUndo: undo != nil, canRedo: redo != nil, isBusy: executions + moves > 0, isClean: isClean,
      undoCount: applied.count, redoCount: undone.count, version: version)
    return Snapshot(
      state: state, undo: undo.flatMap { label(of: $0) }, redo: redo.flatMap { label(of: $0) })
  }

  private mutating func label(of target: Target) -> HistoryLabel<Step>? {
    switch target {
    case .entry(let id):
      guard let position = position(of: id) else { return nil }
      return switch record(at: position).content {
      case .single(let step): .step(step)
      case .group(let group): .text(group.title)
      }
    case .execution(let operation):
      guard let index = index(of: operation), case .group = pending[index].ask else { return nil }
      return titles.last { $0.operation == operation }.map { .text($0.title) }
    }
  }
}
