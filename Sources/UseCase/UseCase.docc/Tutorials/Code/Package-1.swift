// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Books",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Books", targets: ["Books"])
  ],
  dependencies: [
    .package(path: "../UseCase")
  ],
  targets: [
    .target(
      name: "Books",
      dependencies: [
        .product(name: "UseCase", package: "UseCase"),
        .product(name: "UseCaseHistory", package: "UseCase"),
      ]),
    .testTarget(
      name: "BooksTests",
      dependencies: [
        "Books",
        .product(name: "UseCaseTesting", package: "UseCase"),
      ]),
  ]
)
