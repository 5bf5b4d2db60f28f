# The manifest has no tests: those are in an Xcode project. Shared credentials are Apple's alone.
# bundle: com.kishikawakatsumi.KeychainAccess.TestHost
# What is known to fail, for the access groups of its host app on iOS; a Swift error caught as NSError:
# fails: KeychainAccessTests.testAllKeys
# fails: KeychainAccessTests.testGenericPasswordWithAccessGroup2
# fails: KeychainAccessTests.testInternetPasswordWithAccessGroup2
# fails: KeychainAccessTests.testStringConversionError
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
