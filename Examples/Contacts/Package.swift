// swift-tools-version: 6.3
import PackageDescription

// An address book in a database of SQLite. It needs the library of the system: `libsqlite3-dev` on
// Debian; macOS has it.
let package = Package(
  name: "Contacts",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UseCase", path: "../..")],
  targets: [
    .systemLibrary(name: "CSQLite"),
    .target(
      name: "ContactBook",
      dependencies: [
        "CSQLite",
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
        .product(name: "UseCaseJournal", package: "UseCase"),
      ]),
    .executableTarget(name: "contacts", dependencies: ["ContactBook"]),
    .testTarget(name: "ContactsTests", dependencies: ["ContactBook", "contacts"]),
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
