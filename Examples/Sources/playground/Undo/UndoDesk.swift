import UseCase
import UseCaseHistory

/// Two lists and the history of their changes. Publishes a picture of them after each change.
actor UndoDesk {
  /// More requests than this at the same time are refused.
  static let capacity = 12

  private let log: EventLog
  private let lists = Lists()
  private let trouble = Trouble()
  private let history = UseCaseHistory(limit: 12)
  private let edit: RecordedUseCase<Edit>
  private var number = 0
  private var asked: [UndoPicture.Asked] = []
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var isOpen = false

  /// The list that each item is in, or was in before it was gone.
  private var homes: [Int: Int] = [:]

  init(log: EventLog) {
    self.log = log
    edit = Edit(lists: lists, trouble: trouble).recorded(in: history)
  }

  /// Makes a few changes, so that there is something to see and to undo.
  func open() async {
    trouble.settings.latency = 0
    perform(UndoRequest(action: .add, list: 0, text: "milk"))
    perform(UndoRequest(action: .add, list: 1, text: "tent"))
    await ended()
    let milk = lists.all.first { $0.value.text == "milk" }?.key
    perform(UndoRequest(action: .toggle, item: milk))
    perform(UndoRequest(action: .add, list: 0, text: "bread"))
    perform(UndoRequest(action: .undo))
    await ended()
    trouble.settings = Trouble.Settings()
    asked = []
    isOpen = true
    publish()
  }

  func perform(_ request: UndoRequest) {
    defer { publish() }
    if request.action != .trouble, asked.count(where: { !$0.isOver }) >= Self.capacity {
      return refuse("Another request", "Wait: \(Self.capacity) are under way.")
    }
    switch request.action {
    case .trouble:
      if let settings = request.trouble { trouble.settings = settings }
    case .clear: history.clear()
    case .undo: undo(in: document(request.list))
    case .redo: redo(in: document(request.list))
    case .undoEntry: if let id = request.entry { undo(id) }
    case .redoEntry: if let id = request.entry { redo(id) }
    case .add:
      let item = Item(list: request.list ?? 0, text: request.text ?? "")
      guard lists.all.values.count(where: { $0.list == item.list }) < Lists.capacity else {
        return refuse("Add \(item.text)", "The list is full.")
      }
      execute(.add(item), of: nil, "Add \(item.text)")
    case .toggle, .move, .remove: change(request)
    }
  }

  private func change(_ request: UndoRequest) {
    guard let number = request.item, let item = lists[number] else {
      return refuse("Change", Edit.Refusal.gone.description)
    }
    switch request.action {
    case .toggle:
      execute(.toggle, of: number, "\(item.isDone ? "Uncheck" : "Check") \(item.text)")
    case .move: execute(.move, of: number, "Move \(item.text)")
    case _: execute(.remove, of: number, "Remove \(item.text)")
    }
  }

  private func execute(_ change: Edit.Change, of item: Int?, _ title: String) {
    if item == nil { number += 1 }
    let request = Edit.Request(number: item ?? number, change: change, title: title)
    if case .add(let new) = change { homes[request.number] = new.list }
    follow(edit.execute(request), title)
  }

  /// The items of a list, and those that have been moved out of it. Without a list, everything.
  private func document(_ list: Int?) -> HistoryFootprint {
    guard let list else { return .everything }
    for (number, item) in lists.all { homes[number] = item.list }
    // The history has forgotten items that went long ago.
    homes = homes.filter { $0.key > number - 1000 || lists[$0.key] != nil }
    let moved = history.entries.filter(\.isApplied).compactMap { entry in
      history.execution(entry.id, by: Edit.self)?.request
    }
    let own = homes.filter { $0.value == list }.map(\.key)
    return .keys(Set(own + moved.filter { $0.change == .move }.map(\.number)))
  }

  private func undo(in document: HistoryFootprint) {
    let title = history.state(in: document).undoTitle
    move(history.undo(in: document), "Undo", title.map { " “\($0)”" } ?? "")
  }

  private func redo(in document: HistoryFootprint) {
    let title = history.state(in: document).redoTitle
    move(history.redo(in: document), "Redo", title.map { " “\($0)”" } ?? "")
  }

  private func undo(_ id: HistoryEntry.ID) {
    move(history.undo(id), "Undo", " “\(title(of: id))” alone")
  }

  private func redo(_ id: HistoryEntry.ID) {
    move(history.redo(id), "Redo", " “\(title(of: id))” alone")
  }

  private func title(of id: HistoryEntry.ID) -> String {
    history.entries.first { $0.id == id }?.title ?? "\(id)"
  }

  private func refuse(_ words: String, _ reason: String) {
    list(words, .failed, reason)
  }

  /// Lists a request behind the newest ones, and returns its number.
  @discardableResult
  private func list(
    _ words: String, _ state: UndoPicture.Asked.State, _ reason: String? = nil
  ) -> Int {
    for _ in 0..<max(0, asked.count(where: \.isOver) - 7) {
      if let oldest = asked.firstIndex(where: \.isOver) { asked.remove(at: oldest) }
    }
    number += 1
    asked.append(.init(id: number, words: words, state: state, reason: reason))
    return number
  }

  /// Shows an undo or a redo, which may find nothing to do.
  private func move(
    _ operation: UseCaseOperation<HistoryMove, HistoryEntry?>, _ verb: String, _ object: String
  ) {
    follow(operation, verb + object) { entry in
      entry == nil ? "There is nothing to \(verb.lowercased())." : nil
    }
  }

  /// Shows an operation from when it is asked for to its end.
  private func follow<Request, Response>(
    _ operation: UseCaseOperation<Request, Response>, _ words: String,
    nothing: @escaping @Sendable (Response) -> String? = { _ in nil }
  ) {
    let id = list(words, .waiting)
    operation
      .onStart { self.note(id, .running) }
      .finally { outcome in
        switch outcome {
        case .success(let response):
          let reason = nothing(response)
          self.note(id, reason == nil ? .succeeded : .nothing, reason)
        case .failure(let error): self.note(id, .failed, self.words(for: error))
        case .cancelled: self.note(id, .cancelled)
        }
      }
  }

  private func note(_ id: Int, _ state: UndoPicture.Asked.State, _ reason: String? = nil) {
    guard let index = asked.firstIndex(where: { $0.id == id }) else { return }
    asked[index].state = state
    asked[index].reason = reason
    publish()
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  private func words(for error: any Error) -> String {
    guard case .blocked(by: let ids) = error as? HistoryError else {
      return String(describing: error)
    }
    let titles = history.entries.filter { ids.contains($0.id) }.map { "“\($0.title)”" }
    return "Blocked by \(titles.joined(separator: ", "))."
  }

  /// Returns when each request is over and told.
  func ended() async {
    while asked.contains(where: { !$0.isOver }) {
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  private func publish() {
    if isOpen { log.set("undo", picture.json) }
  }

  var picture: UndoPicture {
    let (items, state) = (lists.all, history.state)
    return UndoPicture(
      lists: Lists.names.enumerated().map { index, name in
        let own = items.filter { $0.value.list == index }.sorted { $0.key < $1.key }
        let state = history.state(in: document(index))
        return .init(
          name: name,
          items: own.map { .init(id: $0.key, text: $0.value.text, isDone: $0.value.isDone) },
          canUndo: state.canUndo, undoTitle: state.undoTitle, canRedo: state.canRedo,
          redoTitle: state.redoTitle)
      },
      entries: history.entries.map { entry in
        .init(
          id: entry.id, title: entry.title, isApplied: entry.isApplied,
          blockers: entry.isApplied ? history.blockers(of: entry.id) : [])
      },
      asked: asked, canUndo: state.canUndo, undoTitle: state.undoTitle, canRedo: state.canRedo,
      redoTitle: state.redoTitle, isBusy: state.isBusy, trouble: trouble.settings)
  }
}

/// The state of the lists and their history, as the page draws it.
struct UndoPicture: Encodable {
  struct List: Encodable {
    struct Item: Encodable {
      let id: Int
      let text: String
      let isDone: Bool
    }

    let name: String
    let items: [Item]
    let canUndo: Bool
    let undoTitle: String?
    let canRedo: Bool
    let redoTitle: String?
  }

  struct Entry: Encodable {
    let id: HistoryEntry.ID
    let title: String
    let isApplied: Bool
    let blockers: [HistoryEntry.ID]
  }

  /// An operation of the history: a change, an undo or a redo.
  struct Asked: Encodable {
    enum State: String, Encodable { case waiting, running, succeeded, nothing, failed, cancelled }

    let id: Int
    let words: String
    var state: State
    var reason: String?

    var isOver: Bool { state != .waiting && state != .running }
  }

  let lists: [List]
  let entries: [Entry]
  let asked: [Asked]
  let canUndo: Bool
  let undoTitle: String?
  let canRedo: Bool
  let redoTitle: String?
  let isBusy: Bool
  let trouble: Trouble.Settings
}
