// swift-tools-version: 6.3
import PackageDescription

// A fuzzer of journals, for Linux. See Tests/Fuzz/run.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "../..")],
  targets: [
    .target(name: "LibFuzzer"),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "LibFuzzer",
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
