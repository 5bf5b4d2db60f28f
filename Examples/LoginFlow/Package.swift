// swift-tools-version: 6.2
import PackageDescription

// A program's own package, as an app would have it: nothing but the dependency, no flags, no linker settings. On Apple's
// systems LocalAuthentication and Security are the system's own, and only the vault comes from Whorl.
let package = Package(
  name: "LoginFlow",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "whorl", path: "../..")],
  targets: [
    .executableTarget(name: "LoginFlow", dependencies: [.product(name: "BiometricsVault", package: "whorl")])
  ]
)
