// swift-tools-version: 6.3
import PackageDescription

// Fuzzers of journals, for Linux. See Tests/Fuzz/run, Tests/Fuzz/files and Tests/Fuzz/rows.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "../..")],
  targets: [
    .target(name: "LibFuzzer"),
    .target(name: "Dice"),
    .executableTarget(
      name: "FileFuzz",
      dependencies: [
        "Dice",
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
    .executableTarget(
      name: "RowFuzz",
      dependencies: [
        "Dice",
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Dice", "LibFuzzer",
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
