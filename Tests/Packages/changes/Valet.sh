# @objc does not compile on Linux. The manifest has no tests: those are in an Xcode project, which names an access group for
# each of Apple's platforms.
# What is known to fail, for an account stored as Data comes back as a text:
# fails: ValetIntegrationTests.test_migrateObjectsMatching_withAccountNameAsData_raisesException
find Sources Tests -name '*.swift' -exec sed -i -E 's/^( *)@objc(\([^)]*\))? ?/\1/; s/ @objc / /' {} +
perl -pi -e 's/^        XCTFail\(\)$/"        return SharedGroupIdentifier(groupPrefix: \"group\", nonEmptyGroup: \"valet" . ++$n . "\")!"/e' \
  Tests/ValetIntegrationTests/ValetIntegrationTests.swift
cat > Package.swift <<'M'
// swift-tools-version:5.9
import PackageDescription
let package = Package(
  name: "Valet",
  targets: [
    .target(name: "Valet", path: "Sources/Valet"),
    .testTarget(
      name: "ValetTests", dependencies: ["Valet"], path: "Tests",
      exclude: ["Info.plist", "ValetObjectiveCBridgeTests", "ValetIntegrationTests/MacTests.swift"]),
  ])
M
