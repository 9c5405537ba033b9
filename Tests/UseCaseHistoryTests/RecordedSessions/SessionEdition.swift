#if os(Linux) || os(macOS)
  import UseCaseHistory

  /// How an edition of the library says what a session sees.
  protocol SessionEdition {
    /// Returns the state of the document as the fourth edition would say it.
    func state(
      _ state: HistoryState, of document: String, _ entries: [HistoryEntry],
      in player: SessionPlayer
    ) -> HistoryState
  }

  struct FourthEdition: SessionEdition {
    func state(
      _ state: HistoryState, of _: String, _: [HistoryEntry], in _: SessionPlayer
    ) -> HistoryState { state }
  }

  /// The edition that the first sessions were recorded with.
  struct ThirdEdition: SessionEdition {
    /// “`canUndo` and `canRedo`, of the history or of a document, are false while their target is
    /// blocked (by the entries as they are now, whatever waits; `blockers(of:)` says by what, oldest
    /// id first) or `.unreadable`, and then the title is nil”.
    ///
    /// The third edition said only whether there was a target. `undo()` and `redo()` of the whole
    /// history are never blocked.
    func state(
      _ state: HistoryState, of document: String, _ entries: [HistoryEntry],
      in player: SessionPlayer
    ) -> HistoryState {
      var state = state
      let (undo, redo) = (state.undoTitle, state.redoTitle)
      if let target = entries.last(where: { $0.isApplied && $0.title == undo }),
        !player.history.blockers(of: target.id).isEmpty
      {
        (state.canUndo, state.undoTitle) = (false, nil)
      }
      if let target = entries.first(where: { $0.title == redo && !$0.isApplied }),
        isRedoBlocked(target, entries, player)
      {
        (state.canRedo, state.redoTitle) = (false, nil)
      }
      return state
    }

    /// “one undone entry, if no undone entry that would be redone before it overlaps it”. A half
    /// undone group is redone before all others.
    private func isRedoBlocked(
      _ target: HistoryEntry, _ entries: [HistoryEntry], _ player: SessionPlayer
    ) -> Bool {
      if entries.contains(where: \.isPartial) { return true }
      let sooner = entries.prefix { $0.id != target.id }.filter { !$0.isApplied }
      let keys = player.keys(of: target)
      return sooner.contains { !player.keys(of: $0).isDisjoint(with: keys) }
    }
  }

  /// Returns the edition with which this test is compiled: which one tells from what it says of a
  /// document whose newest entry is blocked.
  func editionHere(in world: OneThread) -> any SessionEdition {
    let player = SessionPlayer(in: world, edition: FourthEdition())
    _ = player.take("x e1@x,y ; x e2@x ; *")
    return player.history.state(in: .keys("y")).canUndo ? ThirdEdition() : FourthEdition()
  }
#endif
