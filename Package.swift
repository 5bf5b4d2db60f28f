// swift-tools-version: 6.2
// Whorl: fingerprint authentication and a fingerprint-gated keychain for Linux.
// The arrows between targets go one way; ARCHITECTURE.md draws them.
import PackageDescription

// A warning is an error with the compilers that CI knows. A later one may have warnings that nobody could have heeded, and
// must not break a program that only uses this package.
#if compiler(>=6.4)
  let strictness: [SwiftSetting] = []
  let strictnessOfC: [CSetting] = []
#else
  let strictness: [SwiftSetting] = [.treatAllWarnings(as: .error)]
  let strictnessOfC: [CSetting] = [.treatAllWarnings(as: .error)]
#endif

/// What every Swift target is built with. No unsafe flags, here and below: whoever depends on this
/// package may be refused them.
let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + strictness

/// What every target in C is built with. `#embed` is C23's.
let settingsOfC: [CSetting] =
  [.enableWarning("all"), .enableWarning("extra"), .disableWarning("c23-extensions")] + strictnessOfC

/// A Swift library or program of ours.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// One module map over one of Debian's C libraries.
func clibrary(_ name: String, _ pkgConfig: String? = nil, apt: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let testTargets: [Target] = [
  .target(name: "CGabor", path: "Tests/CGabor"),
  .target(
    name: "TestKit", dependencies: ["ReaderLink", "ChildProcess", "CPosix", "CGabor", "GLibLoop"],
    path: "Tests/TestKit",
    exclude: ["Scripts"],
    swiftSettings: settings),
  program("press-finger", ["TestKit"], path: "Tests/press-finger"),
  program("fake-bridge", ["ReaderLink"], path: "Tests/fake-bridge"),
  program("keeper-soak", ["ReaderKeeper", "ReaderLink", "GLibLoop", "TestKit"], path: "Tests/keeper-soak"),
  program("keychain-writer", ["Keychain", "SecretMemory"], path: "Tests/keychain-writer"),
  program("keychain-reader", ["WhorlClient", "SecretMemory"], path: "Tests/keychain-reader"),
  program("keychain-bench", ["Keychain", "SecretMemory"], path: "Tests/keychain-bench"),
  program("keychain-storm", ["Security"], path: "Tests/keychain-storm"),
  program("sandbox-probe", ["ReaderSandbox", "ReaderLink", "CPosix"], path: "Tests/sandbox-probe"),
  program("embedded-probe", ["WhorlEmbedded", "Security"], path: "Tests/embedded-probe"),
  tests("TestKitTests", ["TestKit"]),
  tests("GLibLoopTests", ["GLibLoop"]),
  tests("ReaderLinkTests", ["ReaderLink"]),
  tests("ReaderSandboxTests", ["ReaderSandbox", "ReaderKeeper", "ReaderLink", "GLibLoop", "TestKit"]),
  tests("ReaderKeeperTests", ["ReaderKeeper", "ReaderLink", "GLibLoop", "TestKit"]),
  tests("PrintStoreTests", ["PrintStore", "ReaderLink", "TestKit"]),
  tests("SecretMemoryTests", ["SecretMemory", "CPosix", "TestKit"]),
  tests("KeychainArchiveTests", ["KeychainArchive", "SecretMemory", "CPosix"]),
  tests(
    "KeychainTests", ["Keychain", "KeychainArchive", "SecretMemory", "CSQLite", "TestKit", "keychain-writer"],
    exclude: ["Fixtures"]),
  tests("KeyPairsTests", ["KeyPairs", "SecretMemory"]),
  tests("EnclaveTests", ["Enclave", "Keychain", "KeychainArchive", "KeyPairs", "SecretMemory", "TestKit"]),
  tests("ReleaseLogTests", ["ReleaseLog", "TestKit"]),
  tests("BusTests", ["Bus", "GLibLoop", "TestKit"]),
  tests("WhorlClientTests", ["WhorlClient", "Bus", "GLibLoop", "SecretMemory", "TestKit"]),
  tests("SecurityTests", ["Security", "TestKit", "WhorlClient"]),
  tests("LocalAuthenticationTests", ["LocalAuthentication", "SecretMemory", "Security", "WhorlClient"]),
  tests("WhorlAgentTests", ["WhorlAgent", "Bus", "CInterfaces", "CPosix", "GLibLoop", "SecretMemory", "TestKit"]),
  tests("LoginKeyringTests", ["LoginKeyring", "Bus", "GLibLoop", "SecretMemory", "TestKit"]),
  tests(
    "WhorlCommandTests",
    [
      "WhorlCommand", "PAMStacks", "whorl", "Bus", "LoginKeyring", "CInterfaces", "WhorlAgent", "WhorlClient",
      "KeychainArchive",
      "GLibLoop",
      "SecretMemory",
      "CPosix", "TestKit",
    ]),
  tests("PAMStacksTests", ["PAMStacks", "CPosix", "TestKit"]),
  tests("PAMModuleTests", ["PAMModuleHosted", "whorl-passcode", "TestKit"]),
  tests(
    "WhorldTests",
    [
      "WhorlDaemon", "TestKit", "Bus", "Enclave", "GLibLoop", "Keychain", "PrintStore", "ReaderKeeper", "ReaderLink",
      "fake-bridge",
    ]),
  tests(
    "IntegrationTests",
    [
      "TestKit", "BiometricsVault", "LocalAuthentication", "Security", "WhorlClient", "WhorlDaemon", "Bus", "GLibLoop",
      "KeyPairs",
      "SecretMemory", "ReaderLink", "CPosix", "embedded-probe", "keychain-reader", "keychain-storm",
    ], exclude: ["Scripts"]),
]

/// Built by `make fuzz` alone, which sets WHORL_FUZZ and names the sanitizers.
let fuzzTargets: [Target] = [
  .target(
    name: "FuzzKit", dependencies: ["Keychain", "SecretMemory"], path: "Tests/Fuzz/FuzzKit", swiftSettings: settings),
  program("fuzz-rows", ["FuzzKit", "Keychain", "SecretMemory"], path: "Tests/Fuzz/fuzz-rows"),
  program("fuzz-keybag", ["FuzzKit", "Keychain", "SecretMemory"], path: "Tests/Fuzz/fuzz-keybag"),
  program(
    "fuzz-exports", ["FuzzKit", "CPosix", "Keychain", "KeychainArchive", "SecretMemory"],
    path: "Tests/Fuzz/fuzz-exports"),
  program("fuzz-queries", ["FuzzKit", "Bus", "Enclave", "Keychain", "WhorlDaemon"], path: "Tests/Fuzz/fuzz-queries"),
]
let isFuzzing = Context.environment["WHORL_FUZZ"] != nil

/// Built by `make toolset` alone, which sets WHORL_TOOLSET: what unmodified packages for Apple's platforms are built over, as
/// one library. Combine and SwiftUI stand in for the little that such code uses of them; nothing here depends on them.
let toolsetTargets = [
  Target.target(name: "Combine", path: "Sources/Toolset/Combine", swiftSettings: settings),
  .target(name: "SwiftUI", dependencies: ["Combine"], path: "Sources/Toolset/SwiftUI", swiftSettings: settings),
]
let toolset: [Product] = [
  .library(
    name: "WhorlToolset", type: .dynamic,
    targets: toolsetTargets.map(\.name) + [
      "Security", "LocalAuthentication", "WhorlClient", "GLibLoop", "SecretMemory",
    ])
]
let isToolset = Context.environment["WHORL_TOOLSET"] != nil

/// WHORL_TESTS=KeychainTests,whorl-reader keeps only those targets and what they need: for work on one part.
let wanted =
  isFuzzing
  ? fuzzTargets.map(\.name) : Context.environment["WHORL_TESTS"]?.split(separator: ",").map(String.init)
let chosenTests = testTargets.filter { target in
  guard let wanted, target.type == .test else { return true }
  return wanted.contains(target.name)
}

let package = Package(
  name: "whorl",
  products: [
    .executable(name: "whorl", targets: ["whorl"]),
    .executable(name: "whorld", targets: ["whorld"]),
    .executable(name: "whorl-reader", targets: ["whorl-reader"]),
    .executable(name: "whorl-passcode", targets: ["whorl-passcode"]),
    .executable(name: "whorl-embedded", targets: ["whorl-embedded"]),
    .library(name: "WhorlClient", targets: ["WhorlClient", "GLibLoop", "SecretMemory"]),
    .library(name: "Fingerprint", targets: ["Fingerprint", "GLibLoop", "ReaderLink"]),
    .library(name: "Security", targets: ["Security"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "BiometricsVault", targets: ["BiometricsVault"]),
    .library(name: "WhorlEmbedded", targets: ["WhorlEmbedded"]),
  ] + (isToolset ? toolset : []),
  targets: [
    clibrary("CGLib", "gio-unix-2.0", apt: "libglib2.0-dev"),
    clibrary("CFPrint", "libfprint-2", apt: "libfprint-2-dev"),
    clibrary("CSodium", "libsodium", apt: "libsodium-dev"),
    clibrary("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    clibrary("CCrypto", "libcrypto", apt: "libssl-dev"),
    clibrary("CPAM", apt: "libpam0g-dev"),
    clibrary("CSystemd", "libsystemd", apt: "libsystemd-dev"),
    clibrary("CSeccomp", "libseccomp", apt: "libseccomp-dev"),
    clibrary("CPosix", apt: "libc6-dev"),

    // The readers: only whorl-reader links libfprint.
    library("GLibLoop", ["CGLib"]),
    library("ReaderLink"),
    library("Fingerprint", ["CFPrint", "CGLib", "GLibLoop", "ReaderLink"]),
    library("ReaderSandbox", ["ReaderLink", "CSeccomp", "CPosix"]),
    program("whorl-reader", ["Fingerprint", "ReaderLink", "ReaderSandbox", "GLibLoop", "CTaskPool"]),
    library("ChildProcess", ["CPosix"]),
    library("ReaderKeeper", ["ChildProcess", "ReaderLink", "GLibLoop", "CGLib", "CPosix"]),
    library("PrintStore", ["ReaderLink", "CPosix"]),

    // The secrets.
    library("SecretMemory", ["CSodium", "CPosix"]),
    library("KeychainArchive", ["SecretMemory", "CSodium"]),
    library("Keychain", ["ChildProcess", "SecretMemory", "CSodium", "CSQLite", "CPosix"]),
    library("KeyPairs", ["SecretMemory", "CSodium", "CCrypto"]),
    library("Enclave", ["Keychain", "KeychainArchive", "KeyPairs", "SecretMemory"]),
    program("whorl-passcode", ["CPAM", "SecretMemory", "CPosix"]),

    library("ReleaseLog", ["CSystemd", "CPosix"]),

    // The daemon and its clients. CInterfaces builds the files of data/dbus in.
    .target(name: "CInterfaces", cSettings: settingsOfC),
    library("Bus", ["CGLib", "GLibLoop"]),
    library(
      "WhorlDaemon",
      [
        "ChildProcess", "Bus", "GLibLoop", "Enclave", "Keychain", "KeychainArchive", "KeyPairs", "SecretMemory",
        "PrintStore",
        "ReaderKeeper",
        "ReaderLink", "ReleaseLog", "CPosix",
        "CInterfaces",
      ]),
    .target(name: "CTaskPool", cSettings: settingsOfC),
    program("whorld", ["WhorlDaemon", "GLibLoop", "CTaskPool"]),
    library("WhorlClient", ["Bus", "ChildProcess", "GLibLoop", "SecretMemory", "CPosix"]),
    // For Swift apps, and the only ones over Foundation: what code for Apple's systems is written against.
    library("Security", ["KeyPairs", "SecretMemory", "WhorlClient"]),
    library("BiometricsVault", ["LocalAuthentication", "Security", "WhorlClient"]),
    library("LocalAuthentication", ["SecretMemory", "Security", "WhorlClient"]),
    // An enclave of a program's own: the library, and the process between it and the enclave.
    library("EmbeddedLink"),
    library("WhorlEmbedded", ["Bus", "ChildProcess", "EmbeddedLink", "SecretMemory", "WhorlClient", "CPosix"]),
    program(
      "whorl-embedded",
      ["Bus", "ChildProcess", "CInterfaces", "EmbeddedLink", "GLibLoop", "WhorlClient", "CPosix", "CTaskPool"]),
    library("WhorlAgent", ["Bus", "CInterfaces", "ChildProcess", "GLibLoop", "SecretMemory", "CPosix"]),
    library("PAMStacks", ["CPosix"]),
    library("LoginKeyring", ["Bus", "GLibLoop", "SecretMemory", "CCrypto"]),
    library(
      "WhorlCommand",
      [
        "ChildProcess", "PAMStacks", "LoginKeyring", "WhorlAgent", "WhorlClient", "KeychainArchive", "SecretMemory",
        "GLibLoop",
        "CPosix",
      ]),
    program("whorl", ["WhorlCommand", "GLibLoop"]),

    // The PAM module: Embedded Swift for the .so, the same folder as ordinary Swift for its unit tests.
    .target(
      name: "PAMModule", dependencies: ["CPAM", "CSystemd"],
      swiftSettings: settings + [.enableExperimentalFeature("Embedded")]),
    .target(name: "PAMModuleHosted", dependencies: ["CPAM", "CSystemd"], swiftSettings: settings),
  ] + chosenTests + (isFuzzing ? fuzzTargets : []) + (isToolset ? toolsetTargets : []),
  cLanguageStandard: .gnu2x
)

// Apple's platforms have frameworks of their own that the first two stand in for: there the products bring those along, so
// that one manifest and one source serve both. The others have nothing to do there, but can be named, with a condition.
#if !os(Linux)
  package.platforms = [.macOS(.v14), .iOS(.v17)]
  package.products =
    ["Security", "LocalAuthentication", "WhorlClient", "WhorlEmbedded", "Fingerprint"]
    .map { .library(name: $0, targets: ["SystemFrameworks"]) }
    + [.library(name: "BiometricsVault", targets: ["BiometricsVault"])]
  package.targets = [
    .target(name: "SystemFrameworks"),
    .target(name: "BiometricsVault", swiftSettings: settings),
  ]
#endif

if let wanted {
  var needed: Set<String> = []
  var queue = wanted
  while let name = queue.popLast() {
    guard let target = package.targets.first(where: { $0.name == name }), needed.insert(name).inserted else { continue }
    for dependency in target.dependencies {
      if case .byNameItem(let name, _) = dependency { queue.append(name) }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll { !needed.contains($0.name) }
}
