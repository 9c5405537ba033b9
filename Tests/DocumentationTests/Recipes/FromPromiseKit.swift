import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct FromPromiseKit {
  struct Profile: Equatable {
    let title: String
    let picture: String
    let friends: [String]
  }

  struct Offline: Error {}

  struct ShowProfile: UseCase {
    let login: any UseCase<String, Int>
    let picture: any UseCase<Int, String>
    let friends: any UseCase<Int, [String]>

    func main(_ name: String) async throws -> Profile {
      let user = try await login(name)  // firstly … then
      async let friends = friends(user)  // when(fulfilled:)
      async let picture = picture(user)
      let shown = (try? await picture) ?? "nobody.png"  // recover
      let title = name.uppercased()  // map
      return Profile(
        title: title, picture: shown, friends: try await friends)
    }
  }

  private func profile(picture: any UseCase<Int, String>) -> ShowProfile {
    ShowProfile(
      login: AnyUseCase { name in name.count }, picture: picture,
      friends: AnyUseCase { user in ["friend of \(user)"] })
  }

  @Test func `a chain is read from top to bottom`() async {
    let screen = TestScreen()
    let showProfile = profile(picture: AnyUseCase { user in "\(user).png" })
    let operation = showProfile.execute("ada")
      .then { profile in screen.show(profile.title) }  // done
      .catch { error in screen.show("Sorry: \(error)") }
      .finally { screen.show("over") }  // ensure
    await operation.ended()
    #expect(screen.lines == ["ADA", "over"])
    guard case .success(let profile)? = operation.outcome else {
      return #expect(Bool(false), "a profile")
    }
    #expect(profile == Profile(title: "ADA", picture: "3.png", friends: ["friend of 3"]))
  }

  @Test func `a part that fails is recovered from`() async throws {
    let showProfile = profile(picture: AnyUseCase { _ in throw Offline() })
    #expect(try await showProfile("ada").picture == "nobody.png")
  }
}
