import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct FromRemix {
  struct Advert: Sendable {
    let title: String
    let euros: Int
  }

  struct FindAdverts: UseCase {  // the interactor: it knows no view
    let adverts: any UseCase<String, [Advert]>
    let blocked: any UseCase<Void, Set<String>>

    func main(_ text: String) async throws -> [Advert] {
      async let adverts = adverts(text)
      let blocked = try await blocked()
      return try await adverts.filter { !blocked.contains($0.title) }
    }
  }

  struct AdvertFormatter {  // the formatter: it knows no view either
    func line(_ advert: Advert) -> String {
      "\(advert.title), \(advert.euros) €"
    }
  }

  @MainActor
  final class AdvertsCoordinator {  // the coordinator: what comes next
    let find: any UseCase<String, [Advert]>
    let write: (String) -> Void
    private let scope = UseCaseScope()

    init(
      find: any UseCase<String, [Advert]>, write: @escaping (String) -> Void
    ) {
      self.find = find
      self.write = write
    }

    @discardableResult
    func search(_ text: String) -> UseCaseOperation<String, [Advert]> {
      find.execute(text)
        .then { [weak self] adverts in self?.show(adverts) }
        .store(in: scope)
    }

    private func show(_ adverts: [Advert]) {
      for advert in adverts { write(AdvertFormatter().line(advert)) }
      if adverts.isEmpty { write("Nothing found") }
    }
  }

  @Test @MainActor
  func `given a blocked advert, I see only the others`() async {
    let shop = [
      Advert(title: "bike", euros: 90), Advert(title: "scam", euros: 1),
    ]
    let find = FindAdverts(
      adverts: AnyUseCase { text in
        shop.filter { $0.title.contains(text) }
      },
      blocked: AnyUseCase { ["scam"] })
    let screen = TestScreen()
    let coordinator = AdvertsCoordinator(find: find) { line in
      screen.show(line)
    }
    await coordinator.search("").ended()
    await coordinator.search("scam").ended()
    #expect(screen.lines == ["bike, 90 €", "Nothing found"])
  }
}
