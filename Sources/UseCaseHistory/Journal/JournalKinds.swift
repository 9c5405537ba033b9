/// The use cases that a journal knows, by name and by type, and its coder.
final class JournalKinds: Sendable {
  let coder: any HistoryCoder
  private let byName: [String: any JournaledUseCase]
  private let byType: [ObjectIdentifier: any JournaledUseCase]

  init(_ useCases: [any JournaledUseCase], coder: any HistoryCoder) throws {
    var byName: [String: any JournaledUseCase] = [:]
    for useCase in useCases {
      for name in [useCase.ownName] + useCase.formerNames {
        guard byName.updateValue(useCase, forKey: name) == nil else {
          throw HistoryJournalError(.duplicateName(name))
        }
      }
    }
    (self.coder, self.byName) = (coder, byName)
    byType = Dictionary(
      useCases.map { (ObjectIdentifier(type(of: $0)), $0) }, uniquingKeysWith: { $1 })
  }

  subscript(name: String) -> (any JournaledUseCase)? { byName[name] }

  subscript(type: any Any.Type) -> (any JournaledUseCase)? { byType[ObjectIdentifier(type)] }
}

extension JournaledUseCase {
  fileprivate var ownName: String { Self.journalName }
  fileprivate var formerNames: [String] { Self.formerJournalNames }
}
