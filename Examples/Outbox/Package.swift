// swift-tools-version: 6.3
import PackageDescription

// An outbox for the terminal, in a file, and a fake server beside it.
let package = Package(
  name: "Outbox",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "../..")],
  targets: [
    .executableTarget(
      name: "outbox",
      dependencies: [
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
    .testTarget(
      name: "OutboxTests",
      dependencies: ["outbox", .product(name: "UseCaseTesting", package: "UseCase")]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
