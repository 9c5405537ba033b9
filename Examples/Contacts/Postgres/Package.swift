// swift-tools-version: 6.3
import PackageDescription

// The address book on PostgreSQL, where several servers share a book. See ../README.md. It needs
// `libpq-dev` on Debian, or `libpq` of Homebrew, so it is a package of its own.
let package = Package(
  name: "SharedContacts",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "../../..")],
  targets: [
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "SharedBook",
      dependencies: [
        "CPostgres",
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
    .executableTarget(name: "server", dependencies: ["SharedBook"]),
    .testTarget(name: "SharedBookTests", dependencies: ["SharedBook", "server"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
