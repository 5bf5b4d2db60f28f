import BiometricsVault
import Bus
import Foundation
import GLibLoop
import LocalAuthentication
import Security
import TestKit
import Testing
import WhorlClient

/// The vault's whole diagram over a real whorld.
@MainActor
@Suite(.timeLimit(.minutes(3))) struct BiometricsVaultTests {
  struct Login: Codable, Hashable, Sendable {
    var name = "ada"
    var token = "t0k€n"
  }

  typealias Vault = BiometricsVault<Login>

  /// A world with an unlocked keychain, and fingers where wanted, and somebody who touches the reader at each question.
  @MainActor
  final class Scene {
    let world: World
    let agent: OddAgent
    let transport: BlockingBusTransport
    private var asked = 0

    init(finger: SyntheticFinger? = .leftLoop) async throws {
      world = try await World()
      try world.setPasscode()
      try await world.startDaemon()
      try await Client(world).givePasscode(World.passcode)
      if let finger { try await world.enroll(finger) }
      agent = try await OddAgent(world) { _ in throw BusMethodError.failed("not asked") }
      transport = BlockingBusTransport(address: world.bus.address, asksOnTerminal: false)
    }

    func vault(_ key: String = "login") -> Vault { Vault(key: key, context: LAContext(transport: transport)) }

    /// Runs what asks for a finger, and shows this one.
    func touching<R: Sendable>(
      _ finger: SyntheticFinger = .leftLoop, _ body: @escaping @MainActor () async throws -> R
    ) async throws -> R {
      let result = Task { @MainActor in try await body() }
      asked += 1
      try await agent.hears("Show", times: asked)
      try await world.reader.press(finger)
      return try await result.value
    }

    /// How often somebody was asked for something.
    func prompts() async -> Int { await agent.heard.count { $0 == "Show" } }
  }

  private func error(_ body: @MainActor () async throws -> Void) async -> VaultError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? VaultError
    }
  }

  /// Expects of each call what the table in the documentation says for a state in which it is refused.
  private func expectRefusals(_ vault: Vault, _ expected: [String: VaultError]) async {
    let calls: [(String, @MainActor () async throws -> Void)] = [
      ("enableKeychain", { try vault.enableKeychainVault(saving: Login()) }),
      ("enableSecure", { try await vault.enableSecureVaultWithBiometrics(saving: Login()) }),
      ("upgrade", { try await vault.upgradeKeychainWithBiometrics() }),
      ("downgrade", { try vault.downgradeBiometricsToKeychain() }),
      ("disable", { try vault.disableBiometricsSecureVault() }),
      ("lock", { _ = try vault.lock() }),
      ("unlock", { _ = try await vault.unlockWithBiometrics() }),
    ]
    let before = vault.state.debugDescription
    for (name, call) in calls {
      guard let refusal = expected[name] else { continue }
      #expect(await error(call) == refusal, "\(name) in \(before)")
      #expect(vault.state.debugDescription == before, "\(name)")
    }
  }

  @Test func `Every call in every state does what the table says, and nothing else asks for a finger`() async throws {
    let scene = try await Scene()
    let vault = scene.vault()
    #expect(vault.state == .ready && vault.biometricsAvailable && !vault.biometricsEnabled)
    await expectRefusals(
      vault,
      [
        "upgrade": .notEnabled, "downgrade": .notEnabled, "disable": .notEnabled, "lock": .notEnabled,
        "unlock": .notEnabled,
      ])

    try vault.enableKeychainVault(saving: Login())
    #expect(vault.state == .keychainSecured(Login()))
    await expectRefusals(
      vault,
      [
        "enableKeychain": .alreadyUsesKeychain, "enableSecure": .alreadySecuredByKeychainUseSecureFunction,
        "downgrade": .notSecuredWithBiometrics, "disable": .notSecuredWithBiometrics,
        "lock": .notSecuredWithBiometrics, "unlock": .notLockedWithBiometrics,
      ])
    #expect(scene.vault().state == .keychainSecured(Login()))
    #expect(await scene.prompts() == 0)

    try await scene.touching { try await vault.upgradeKeychainWithBiometrics() }
    #expect(vault.biometricsEnabled)
    #expect(try vault.credentials() == Login())
    await expectRefusals(
      vault,
      [
        "enableKeychain": .alreadySecuredWithBiometrics, "enableSecure": .alreadySecuredWithBiometrics,
        "upgrade": .alreadySecuredWithBiometrics, "unlock": .notLockedWithBiometrics,
      ])
    #expect(scene.vault().state == .locked)

    #expect(try vault.lock())
    #expect(vault.state == .locked)
    await expectRefusals(
      vault,
      [
        "enableKeychain": .lockedWithBiometricsCannotEnable, "enableSecure": .lockedWithBiometricsCannotEnable,
        "upgrade": .lockedWithBiometricsCannotEnable, "downgrade": .lockedWithBiometricsUseReset,
        "disable": .lockedWithBiometricsUseReset, "lock": .alreadyLockedWithBiometrics,
      ])
    #expect(await scene.prompts() == 1)
    let unlocked = try await scene.touching { try await vault.unlockWithBiometrics() }
    #expect(unlocked == Login() && vault.biometricsEnabled)

    try vault.downgradeBiometricsToKeychain()
    #expect(vault.state == .keychainSecured(Login()))
    #expect(scene.vault().state == .keychainSecured(Login()))
    vault.resetEverything()
    #expect(vault.state == .ready)

    let other = Login(name: "grace", token: "")
    try await scene.touching { try await vault.enableSecureVaultWithBiometrics(saving: other) }
    #expect(try vault.credentials() == other)
    try vault.disableBiometricsSecureVault()
    #expect(vault.state == .ready)
    #expect(scene.vault().state == .ready)
    try await scene.touching { try await vault.enableSecureVaultWithBiometrics(saving: other) }
    try vault.lock()
    vault.resetEverything()
    #expect(vault.state == .ready && scene.vault().state == .ready)
    #expect(await scene.prompts() == 4)
  }

  @Test func `Without a finger nothing can be made, and it ends by itself when one is enrolled`() async throws {
    let scene = try await Scene(finger: nil)
    let vault = scene.vault()
    #expect(vault.state == .unavailable && !vault.biometricsAvailable)
    await expectRefusals(
      vault,
      [
        "enableKeychain": .notAvailable, "enableSecure": .notAvailable, "upgrade": .notAvailable,
        "downgrade": .notAvailable, "disable": .notAvailable, "lock": .notAvailable, "unlock": .notAvailable,
      ])
    vault.resetEverything()
    #expect(vault.state == .unavailable)
    var states = vault.states.makeAsyncIterator()
    #expect(await states.next(isolation: MainActor.shared) == .unavailable)
    try await scene.world.enroll(.leftLoop)
    #expect(await states.next(isolation: MainActor.shared) == .ready)
  }

  @Test func `A change of fingers is told, and does not look like an empty vault`() async throws {
    let scene = try await Scene()
    let vault = scene.vault()
    try await scene.touching { try await vault.enableSecureVaultWithBiometrics(saving: Login()) }
    try vault.lock()
    try await scene.world.enroll(.twinLoop, as: "left-index-finger")
    await #expect(throws: VaultLoss.fingersChanged) { _ = try await vault.unlockWithBiometrics() }
    #expect(vault.state == .ready && vault.loss == .fingersChanged)
    let next = scene.vault()
    #expect(next.state == .ready && next.loss == .fingersChanged)
    try next.enableKeychainVault(saving: Login())
    #expect(next.loss == nil)
    next.resetEverything()
    #expect(scene.vault().loss == nil)
  }

  @Test func `A change that ended half-way loses nothing, and the next one goes through`() async throws {
    let scene = try await Scene()
    try scene.vault().enableKeychainVault(saving: Login())
    // What a program leaves that ends between the two steps of an upgrade: both items.
    let context = LAContext(transport: scene.transport)
    let control = try #require(
      SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil))
    let leftover: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "BiometricsVault.biometrics", kSecAttrAccount: "login",
      kSecAttrAccessControl: control, kSecValueData: Data("older".utf8), kSecUseAuthenticationContext: context,
    ]
    #expect(SecItemAdd(leftover as CFDictionary, nil) == errSecSuccess)
    let vault = scene.vault()
    #expect(vault.state == .keychainSecured(Login()))
    try await scene.touching { try await vault.upgradeKeychainWithBiometrics() }
    #expect(try vault.credentials() == Login())
    #expect(scene.vault().state == .locked)
  }

  @Test func `A refused or wrong finger leaves the credentials where they are`() async throws {
    let scene = try await Scene()
    let vault = scene.vault()
    try vault.enableKeychainVault(saving: Login())
    let upgrade = Task { @MainActor in try await vault.upgradeKeychainWithBiometrics() }
    try await scene.agent.hears("Show")
    _ = try await scene.agent.whorld("CancelRequest", [scene.agent.request])
    await #expect { try await upgrade.value } throws: { ($0 as? LAError)?.code == .userCancel }
    #expect(vault.state == .keychainSecured(Login()))
    #expect(scene.vault().state == .keychainSecured(Login()))
  }
}
