// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "UseCase",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "UseCase", targets: ["UseCase"]),
    .library(name: "UseCaseHistory", targets: ["UseCaseHistory"]),
    .library(name: "UseCaseJournal", targets: ["UseCaseJournal"]),
    .library(name: "UseCaseTesting", targets: ["UseCaseTesting"]),
  ],
  targets: [
    .target(name: "UseCaseInternals"),
    .target(name: "UseCase", dependencies: ["UseCaseInternals"]),
    .target(name: "UseCaseHistory", dependencies: ["UseCase", "UseCaseInternals"]),
    .target(name: "UseCaseJournal", dependencies: ["UseCaseHistory", "UseCaseInternals"]),
    .target(name: "UseCaseTesting", dependencies: ["UseCase", "UseCaseInternals"]),
    .target(
      name: "TestSupport", dependencies: ["UseCaseInternals", "UseCaseTesting"],
      path: "Tests/TestSupport"),
    .target(name: "SwiftUIStub", path: "Tests/SwiftUIStub"),
    .testTarget(
      name: "UseCaseTests", dependencies: ["UseCase", "UseCaseInternals", "TestSupport"]),
    .testTarget(
      name: "UseCaseTestingTests", dependencies: ["UseCase", "UseCaseTesting", "TestSupport"]),
    .testTarget(
      name: "UseCaseHistoryTests",
      dependencies: ["UseCase", "UseCaseHistory", "UseCaseJournal", "TestSupport"],
      exclude: ["Sessions"]),
    .testTarget(
      name: "UseCaseJournalTests",
      dependencies: ["UseCase", "UseCaseHistory", "UseCaseJournal", "TestSupport"]),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "UseCase", "UseCaseHistory", "UseCaseJournal", "UseCaseTesting", "SwiftUIStub",
        "TestSupport",
      ]),
    .testTarget(name: "NetworkTests", dependencies: ["UseCase", "TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

// The clients have settings of their own: those of other people's projects. All of them compile
// Tests/Clients/ClientTests.swift.
let clients: [String: [SwiftSetting]] = [
  "Swift6ClientTests": [],
  "Swift6NonsendingClientTests": [.enableUpcomingFeature("NonisolatedNonsendingByDefault")],
  "Swift5ClientTests": [.swiftLanguageMode(.v5)],
  "MainActorClientTests": [.defaultIsolation(MainActor.self)],
  "Swift5MainActorClientTests": [
    .swiftLanguageMode(.v5), .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("DisableOutwardActorInference"),
    .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InferSendableFromCaptures"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ],
]

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}

package.targets += clients.keys.sorted().map { name in
  .testTarget(
    name: name, dependencies: ["UseCase", "UseCaseHistory", "TestSupport"],
    swiftSettings: clients[name, default: []] + [.treatAllWarnings(as: .error)])
}
