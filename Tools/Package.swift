// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Tools",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "..")],
  targets: [
    .executableTarget(
      name: "timelines",
      dependencies: ["UseCase", "UseCaseHistory", "UseCaseJournal", "UseCaseTesting"].map {
        .product(name: $0, package: "UseCase")
      }),
    .executableTarget(name: "reference"),
    .target(name: "EntryTrace"),
    .executableTarget(
      name: "walk",
      dependencies: ["EntryTrace"]
        + ["UseCase", "UseCaseHistory"].map { .product(name: $0, package: "UseCase") }),
    .testTarget(name: "TimelinesTests", dependencies: ["timelines"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
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
