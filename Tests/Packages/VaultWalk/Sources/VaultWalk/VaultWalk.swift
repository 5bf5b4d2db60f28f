import BiometricsVault
import Combine
import Foundation

struct Login: Codable, Equatable {
  var name: String
}

/// Goes every way of the diagram, with every call that throws in a state between, and says which.
@MainActor
final class Walk {
  private let login = Login(name: "ada")
  private let vault = BiometricsVault<Login>(key: "walk")
  private var states: [String] = []
  private var failures = 0
  private var listening: AnyCancellable?

  func run() async throws {
    listening = vault.$state.sink { self.states.append("\($0)") }
    expect(vault.biometricsAvailable, "a finger is there")
    vault.resetEverything()
    shows("Vault is ready")
    await refuses("notEnabled", lock: true, unlock: true, disable: true, downgrade: true)

    try vault.enableKeychainVault(saving: login)
    shows("Vault is enabled (Keychain)")
    expect(again("walk") == "Vault is enabled (Keychain)", "another vault of that key reads it without a finger")
    await refuses("notSecuredWithBiometrics", lock: true, disable: true, downgrade: true)
    await refuses("notLockedWithBiometrics", unlock: true)

    vault.resetEverything()
    shows("Vault is ready")
    try vault.enableKeychainVault(saving: login)
    try await vault.upgradeKeychainWithBiometrics()
    shows("Vault is enabled (Biometrics!)")
    expect(vault.biometricsEnabled, "behind a finger")
    expect(again("walk") == "Vault is locked", "another vault of that key is locked")
    await refuses("notLockedWithBiometrics", unlock: true)
    await refuses("alreadySecuredWithBiometrics", upgrade: true)

    expect(try vault.lock(), "lock says yes")
    shows("Vault is locked")
    await refuses("alreadyLockedWithBiometrics", lock: true)
    await refuses("lockedWithBiometricsUseReset", disable: true, downgrade: true)
    await refuses("lockedWithBiometricsCannotEnable", upgrade: true)

    let unlocked = try await vault.unlockWithBiometrics()
    expect(unlocked == login, "the credentials come back")
    shows("Vault is enabled (Biometrics!)")
    // Again, without a touch: the context of the unlock.
    try vault.downgradeBiometricsToKeychain()
    shows("Vault is enabled (Keychain)")

    vault.resetEverything()
    try await vault.enableSecureVaultWithBiometrics(saving: login)
    shows("Vault is enabled (Biometrics!)")
    try vault.disableBiometricsSecureVault()
    shows("Vault is ready")

    try await vault.enableSecureVaultWithBiometrics(saving: login)
    _ = try vault.lock()
    vault.resetEverything()
    shows("Vault is ready")
    expect(again("walk") == "Vault is ready", "nothing is left")

    let owner = try await vault.reauthenticateOwner()
    expect(owner, "the owner is known")
    expect(states.count > 10, "Combine told the states: \(states.count)")
    print(failures == 0 ? "walked" : "\(failures) FAILED")
    exit(failures == 0 ? 0 : 1)
  }

  private func again(_ key: String) -> String { "\(BiometricsVault<Login>(key: key).state)" }

  private func expect(_ condition: Bool, _ what: String) {
    if !condition { failures += 1 }
    print(condition ? "ok: \(what)" : "FAILED: \(what)")
  }

  private func shows(_ text: String) { expect("\(vault.state)" == text, text) }

  private func refuses(
    _ error: String, lock: Bool = false, unlock: Bool = false, disable: Bool = false, downgrade: Bool = false,
    upgrade: Bool = false
  ) async {
    let before = "\(vault.state)"
    if lock { await refuses(error, "lock") { _ = try self.vault.lock() } }
    if unlock { await refuses(error, "unlock") { _ = try await self.vault.unlockWithBiometrics() } }
    if disable { await refuses(error, "disable") { try self.vault.disableBiometricsSecureVault() } }
    if downgrade { await refuses(error, "downgrade") { try self.vault.downgradeBiometricsToKeychain() } }
    if upgrade { await refuses(error, "upgrade") { try await self.vault.upgradeKeychainWithBiometrics() } }
    shows(before)
  }

  private func refuses(_ error: String, _ name: String, _ call: @MainActor () async throws -> Void) async {
    do {
      try await call()
      expect(false, "\(name) throws \(error)")
    } catch let thrown as VaultError {
      expect("\(thrown)" == error, "\(name) throws \(error) (it threw \(thrown))")
    } catch {
      expect(false, "\(name) throws a VaultError, not \(error)")
    }
  }
}

@main
struct VaultWalk {
  static func main() async {
    do { try await Walk().run() } catch {
      print("FAILED: \(error)")
      exit(1)
    }
  }
}
