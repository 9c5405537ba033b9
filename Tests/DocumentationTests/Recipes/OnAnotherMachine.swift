import Distributed
import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct OnAnotherMachine {
  distributed actor Desk {
    typealias ActorSystem = LocalTestingDistributedActorSystem

    private let translate: any UseCase<String, String>

    init(_ translate: any UseCase<String, String>, on system: ActorSystem) {
      self.translate = translate
      actorSystem = system
    }

    distributed func answer(_ word: String) async throws -> String {
      try await translate(word)
    }
  }

  struct TranslateThere: UseCase {
    let desk: Desk

    func main(_ word: String) async throws -> String {
      try await desk.answer(word)
    }
  }

  @Test func `the port is the same, here and there`() async throws {
    let system = LocalTestingDistributedActorSystem()
    let here = AnyUseCase<String, String> { word in word == "gracias" ? "thank you" : "?" }
    let desk = Desk(here, on: system)
    let there = TranslateThere(desk: try Desk.resolve(id: desk.id, using: system))
    for translate in [here, there] as [any UseCase<String, String>] {
      #expect(try await translate("gracias") == "thank you")
    }
  }
}
