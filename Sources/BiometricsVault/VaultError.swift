public import Foundation

/// Why a vault refuses a call: the state that it is in does not allow it. ``BiometricsVault/BiometricsVault`` has the table.
public enum VaultError: Error, LocalizedError, Hashable, Sendable, CaseIterable {
  /// No reader or no enrolled finger, so that no vault can be made.
  case notAvailable
  /// Nothing is kept.
  case notEnabled
  /// The credentials are kept without fingers.
  case notSecuredWithBiometrics
  /// There is nothing to unlock.
  case notLockedWithBiometrics
  /// It is locked already.
  case alreadyLockedWithBiometrics
  /// It is locked: unlock it first, or reset everything.
  case lockedWithBiometricsUseReset
  /// It is locked: what is kept would be lost.
  case lockedWithBiometricsCannotEnable
  /// The credentials are kept without fingers already.
  case alreadyUsesKeychain
  /// The credentials are kept without fingers: upgrade the vault.
  case alreadySecuredByKeychainUseSecureFunction
  /// The credentials are kept behind a finger already.
  case alreadySecuredWithBiometrics
  /// What is kept could not be read.
  case retrievalFailure
  /// What was to be kept could not be read back, and is not kept.
  case storingFailure

  /// One line for people, in English.
  public var errorDescription: String? {
    switch self {
    case .notAvailable:
      "No finger can be used here (no reader, no enrolled finger, or no Whorl); whorl status says which."
    case .notEnabled: "Nothing is kept in the vault; log in first."
    case .notSecuredWithBiometrics: "The vault is not behind a finger; turn that on first."
    case .notLockedWithBiometrics: "The vault is not locked."
    case .alreadyLockedWithBiometrics: "The vault is locked already; unlock it with a finger."
    case .lockedWithBiometricsUseReset: "The vault is locked; unlock it with a finger, or reset it."
    case .lockedWithBiometricsCannotEnable:
      "The vault is locked; unlock it with a finger before you change how it is kept."
    case .alreadyUsesKeychain: "The vault keeps credentials already."
    case .alreadySecuredByKeychainUseSecureFunction: "The vault keeps credentials already; put those behind a finger."
    case .alreadySecuredWithBiometrics: "The vault is behind a finger already."
    case .retrievalFailure: "What the vault keeps could not be read; log in again."
    case .storingFailure: "The credentials could not be kept; try again."
    }
  }
}
