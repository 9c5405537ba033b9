import TestSupport

/// The next step of a random session. The numbers are taken modulo what there is, so that
/// every part of a session is a session too.
enum RandomStep {
  case edit, type(Int)
  case group(seed: UInt64, holds: Bool = false)
  case openGroup, part(Int), closeGroup(Int), cancelGroup(Int), letGo(Int), cancelPart(Int)
  case undo, redo, move(Int), undoEntry(Int), redoEntry(Int), forget(Int)
  case undoIn(Int), redoIn(Int)
  case succeed, fail, lose, askInside
  case cancel(Int)
  /// The process ends, and the next one opens the history of its journal, if it has one.
  case reopen(Reopening)
  case clear, limit(Int?), savePoint, markSaved(Int), breakMerging, wait(Int), window(Int)

  static func random(_ random: inout some RandomNumberGenerator) -> Self {
    switch Int.random(in: -54..<100, using: &random) {
    case -54..<(-52): .reopen(.random(&random))
    case -52..<(-50): .group(seed: .random(in: .min ... .max, using: &random), holds: true)
    case -50..<(-47): .openGroup
    case -47..<(-37): .part(.random(in: 0..<1000, using: &random))
    case -37..<(-32): .closeGroup(.random(in: 0..<1000, using: &random))
    case -32..<(-30): .cancelGroup(.random(in: 0..<1000, using: &random))
    case -30..<(-29): .letGo(.random(in: 0..<1000, using: &random))
    case -29..<(-27): .cancelPart(.random(in: 0..<1000, using: &random))
    case -27: .window([0, 400, 500].randomElement(using: &random) ?? 0)
    case -26..<(-24): .redoEntry(.random(in: 0..<1000, using: &random))
    case -24..<(-18): .undoIn(.random(in: 0..<1000, using: &random))
    case -18..<(-12): .redoIn(.random(in: 0..<1000, using: &random))
    case -12..<(-4): .undoEntry(.random(in: 0..<1000, using: &random))
    case -4..<(-2): .forget(.random(in: 0..<1000, using: &random))
    case -2..<0: .lose
    case 0..<12: .edit
    case 12..<22: .type(.random(in: 0..<8, using: &random))
    case 22..<27: .group(seed: .random(in: .min ... .max, using: &random))
    case 27..<36: .undo
    case 36..<43: .redo
    case 43..<46: .move(.random(in: 0..<1000, using: &random))
    case 46..<82: .succeed
    case 82..<87: .fail
    case 87: .askInside
    case 88: .askInside
    case 89..<92: .cancel(.random(in: 0..<1000, using: &random))
    case 92: .clear
    case 93: .limit([nil, nil, 0, 1, 2, 3, 5].randomElement(using: &random) ?? nil)
    case 94: .savePoint
    case 95..<97: .markSaved(.random(in: 0..<1000, using: &random))
    case 97: .breakMerging
    default: .wait([1, 400, 500, 501].randomElement(using: &random) ?? 1)
    }
  }
}

/// The end of a process, and the next one.
struct Reopening {
  /// Whether the action that was interrupted has had its effect.
  let hadEffect: Bool
  let keepsGroups: Bool
  /// What becomes of the first actions that compensate a group. None fails: the reference has no
  /// interrupted entries.
  let verdicts: [ReferenceHistory.Verdict]

  static func random(_ random: inout some RandomNumberGenerator) -> Self {
    let count = Int.random(in: 0..<3, using: &random)
    let last: [ReferenceHistory.Verdict] =
      [[.obsolete], [], []].randomElement(using: &random) ?? []
    return Self(
      hadEffect: Bool.random(using: &random),
      // A group that is kept may be half undone, which the reference does not tell from interrupted.
      keepsGroups: false,
      verdicts: Array(repeating: .success, count: count) + last)
  }
}
