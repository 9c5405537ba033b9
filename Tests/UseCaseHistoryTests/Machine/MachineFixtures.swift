import UseCase

@testable import UseCaseHistory

/// The machine of a history whose steps are texts.
typealias TextMachine = HistoryMachine<String, Int>

extension TextMachine {
  init() { self.init(limit: nil, mergeWindow: .zero) }
}

extension HistoryEntry.ID {
  init(_ number: Int) { self.init(number: UInt64(number)) }
}

/// An operation that a machine only hands on.
let handedOn = AnyUseCase<Void, Void> { _ in }.execute()
