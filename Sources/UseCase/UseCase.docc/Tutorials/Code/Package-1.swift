// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Books",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Books", targets: ["Books"])
  ],
  dependencies: [
    .package(url: "<URL of this repository>", branch: "main")
  ],
  targets: [
    .target(
      name: "Books",
      dependencies: [
        .product(name: "UseCase", package: "<package>"),
        .product(name: "UseCaseHistory", package: "<package>"),
      ]),
    .testTarget(
      name: "BooksTests",
      dependencies: [
        "Books",
        .product(name: "UseCaseTesting", package: "<package>"),
      ]),
  ]
)
