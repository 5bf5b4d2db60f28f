// swift-tools-version: 6.0
import PackageDescription

// As packages for Apple's platforms are: nothing in it knows of Linux or of Whorl.
let package = Package(
  name: "Untouched",
  platforms: [.iOS(.v14), .macOS(.v12)],
  products: [.library(name: "Untouched", targets: ["Untouched"])],
  targets: [
    .target(name: "Untouched"),
    .testTarget(name: "UntouchedTests", dependencies: ["Untouched"]),
  ]
)
