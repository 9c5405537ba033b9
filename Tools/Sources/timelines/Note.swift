import UseCase

/// Words behind a bar.
struct Note {
  let text: String
  /// They stand so far to the right of this time.
  let tick: Int
  let offset: Double
}

extension Timeline.Lane {
  /// Says what has become of an operation that has not succeeded.
  func note(in language: Language) -> Note? {
    let word = outcome.mark.name[language]
    switch outcome.mark {
    case .succeeded: return nil
    case .failed: return Note(text: word, tick: outcome.tick, offset: 6)
    case .cancelled(.dropped), .cancelled(.closed):
      return Note(text: word, tick: outcome.tick, offset: 12 + text.width + 8)
    case .cancelled(.superseded), .cancelled(.requested), .cancelled(.scopeEnded),
      .cancelled(.thrown):
      guard unwinding.isEmpty else { return Note(text: word, tick: ended, offset: 6) }
      return Note(text: word, tick: outcome.tick, offset: 25)
    }
  }
}
