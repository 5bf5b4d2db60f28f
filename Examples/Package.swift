// swift-tools-version: 6.2
import PackageDescription

// Programs as an app's own package has them: nothing but the dependency, no flags, no linker settings. On Apple's systems
// LocalAuthentication and Security are the system's own, and only the vault comes from Whorl.
let package = Package(
  name: "Examples",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "whorl", path: "..")],
  targets: [
    .executableTarget(
      name: "LoginFlow", dependencies: [.product(name: "BiometricsVault", package: "whorl")], path: "LoginFlow"),
    .executableTarget(
      name: "TouchIDKeychain",
      dependencies: [
        .product(name: "LocalAuthentication", package: "whorl", condition: .when(platforms: [.linux])),
        .product(name: "Security", package: "whorl", condition: .when(platforms: [.linux])),
      ], path: "TouchIDKeychain"),
  ]
)
