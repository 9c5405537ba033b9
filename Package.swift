// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "UseCase",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "UseCase", targets: ["UseCase"]),
    .library(name: "UseCaseHistory", targets: ["UseCaseHistory"]),
  ],
  targets: [
    .target(name: "UseCaseInternals"),
    .target(name: "UseCase", dependencies: ["UseCaseInternals"]),
    .target(name: "UseCaseHistory", dependencies: ["UseCase", "UseCaseInternals"]),
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    .testTarget(
      name: "UseCaseTests", dependencies: ["UseCase", "UseCaseInternals", "TestSupport"]),
    .testTarget(
      name: "UseCaseHistoryTests",
      dependencies: ["UseCase", "UseCaseHistory", "UseCaseInternals", "TestSupport"]),
    .testTarget(
      name: "DocumentationTests", dependencies: ["UseCase", "UseCaseHistory", "TestSupport"]),
    .testTarget(name: "NetworkTests", dependencies: ["UseCase", "TestSupport"]),
    .testTarget(
      name: "Swift6ClientTests", dependencies: ["UseCase", "UseCaseHistory", "TestSupport"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "Swift5ClientTests", dependencies: ["UseCase", "UseCaseHistory", "TestSupport"],
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "MainActorClientTests", dependencies: ["UseCase", "UseCaseHistory", "TestSupport"],
      swiftSettings: [.defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "Swift5MainActorClientTests", dependencies: ["UseCase", "TestSupport"],
      swiftSettings: [
        .swiftLanguageMode(.v5), .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("DisableOutwardActorInference"),
        .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("InferSendableFromCaptures"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// The clients have settings of their own: those of other people's projects.
for target in package.targets where target.swiftSettings == nil {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]
}
