// swift-tools-version: 6.0
import PackageDescription

// A program over the package BiometricsVault in the folder BIOMETRICS_VAULT; built with whorl-toolset.json by Tests/Packages/run.sh.
let package = Package(
  name: "VaultWalk",
  dependencies: [.package(path: Context.environment["BIOMETRICS_VAULT"] ?? "../../../../BiometricsVault")],
  targets: [
    .executableTarget(
      name: "VaultWalk", dependencies: [.product(name: "BiometricsVault", package: "BiometricsVault")])
  ]
)
