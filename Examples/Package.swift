// swift-tools-version: 6.3
import PackageDescription

let library: [Target.Dependency] = [
  .product(name: "UseCase", package: "UseCase"),
  .product(name: "UseCaseHistory", package: "UseCase"),
  .product(name: "UseCaseJournal", package: "UseCase"),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "..")],
  targets: [
    .executableTarget(name: "picker", dependencies: library),
    .testTarget(name: "PickerTests", dependencies: ["picker"]),
    .target(name: "newcomer", dependencies: library),
    .testTarget(name: "NewcomerTests", dependencies: ["newcomer"]),
    .target(name: "LocalServer"),
    .testTarget(name: "LocalServerTests", dependencies: ["LocalServer"]),
    .executableTarget(
      name: "playground", dependencies: ["LocalServer"] + library, resources: [.copy("Page")]),
    .testTarget(name: "PlaygroundTests", dependencies: ["playground", "LocalServer"] + library),
    .target(name: "NotesWire"),
    .executableTarget(name: "notes-server", dependencies: ["LocalServer", "NotesWire"]),
    // It starts the server, which is therefore built with it.
    .executableTarget(name: "notes", dependencies: ["NotesWire", "notes-server"] + library),
    .testTarget(
      name: "NotesTests",
      dependencies: [
        "notes", "notes-server", "NotesWire",
        .product(name: "UseCaseTesting", package: "UseCase"),
      ]),
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
