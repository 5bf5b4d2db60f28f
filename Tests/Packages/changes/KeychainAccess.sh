# The manifest has no tests: those are in an Xcode project. Shared credentials are Apple's alone.
# bundle: com.kishikawakatsumi.KeychainAccess.TestHost
rm -f Package@swift-*.swift
cat > Package.swift <<'M'
// swift-tools-version:5.9
import PackageDescription
let package = Package(
  name: "KeychainAccess",
  targets: [
    .target(name: "KeychainAccess", path: "Lib/KeychainAccess", exclude: ["Info.plist"]),
    .testTarget(
      name: "KeychainAccessTests", dependencies: ["KeychainAccess"], path: "Lib/KeychainAccessTests",
      sources: ["KeychainAccessTests.swift", "EnumTests.swift", "ErrorTypeTests.swift"]),
  ])
M
