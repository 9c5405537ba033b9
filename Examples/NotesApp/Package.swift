// swift-tools-version: 6.3
import PackageDescription

let library: [Target.Dependency] = [
  .product(name: "UseCase", package: "UseCase"),
  .product(name: "UseCaseHistory", package: "UseCase"),
  .product(name: "UseCaseJournal", package: "UseCase"),
]

let internalImports = [SwiftSetting.enableUpcomingFeature("InternalImportsByDefault")]

let package = Package(
  name: "NotesApp",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "NotesViews", targets: ["NotesViews"])],
  dependencies: [.package(name: "UseCase", path: "../..")],
  targets: [
    .target(name: "NotesModels", dependencies: library),
    .target(name: "NotesViews", dependencies: ["NotesModels"] + library),
    .executableTarget(name: "NotesApp", dependencies: ["NotesViews"]),
    // Both of these are for this machine only: the app needs neither.
    .target(name: "LocalServer", swiftSettings: internalImports),
    .target(
      name: "NotesServer", dependencies: ["LocalServer", "NotesModels"],
      swiftSettings: internalImports),
    .executableTarget(name: "notes-app-server", dependencies: ["LocalServer", "NotesServer"]),
    .executableTarget(
      name: "KilledApp", dependencies: ["NotesModels"] + library, path: "Tests/KilledApp"),
    .testTarget(
      name: "NotesAppTests",
      dependencies: [
        "NotesModels", "NotesServer", "LocalServer", "KilledApp",
        .product(name: "UseCaseTesting", package: "UseCase"),
      ] + library),
  ],
  swiftLanguageModes: [.v6]
)

// The views compile everywhere: where the system has no SwiftUI, a module of that name has the
// names that they use.
#if os(Linux)
  package.targets.append(.target(name: "SwiftUI"))
  for target in package.targets where ["NotesViews", "NotesApp"].contains(target.name) {
    target.dependencies.append("SwiftUI")
  }
#endif

for target in package.targets {
  target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
}
