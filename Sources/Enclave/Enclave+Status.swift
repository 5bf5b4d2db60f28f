public import Keychain

/// What there is to know of a user without asking for anything.
public struct EnclaveStatus: Sendable, Equatable {
  /// What the device key is sealed to, or why it cannot be had.
  public enum DeviceKey: Sendable, Equatable {
    /// It can be had.
    case sealed(DeviceKeySealing)
    /// It cannot; says why and what to do.
    case unavailable(String)
  }

  /// Misses in a row, 0 to 255.
  public let misses: Int
  /// So many lock biometry out.
  public let missesAllowed: Int
  /// Whether biometry is locked out, be it that misses cannot be recorded.
  public let isLockedOut: Bool
  /// Seconds until a passcode is looked at; 0: now.
  public let passcodeDelay: Int
  /// The registered fingers, in the order they were enrolled.
  public let registered: [BiometrySetMember]
  /// 32 bytes that change with the set of registered fingers; empty where the store cannot be had.
  public let domainState: [UInt8]
  /// How far the keychain is unlocked; nil where it cannot be had.
  public let keybag: KeybagState?
  /// Whether the passcode was changed since it last opened the keychain, so that the former one is waited for.
  public let isFormerPasscodeNeeded: Bool
  /// Whether there is a recovery key.
  public let hasRecoveryKey: Bool
  /// The device key.
  public let deviceKey: DeviceKey
  /// Why the user's keychain cannot be had, in one line for people; nil where it can.
  public let storeError: String?
}

extension Enclave {
  /// How things stand for a user. Never fails: what cannot be had is said in the answer.
  public func status(user: UserID) -> EnclaveStatus {
    let deviceKey: EnclaveStatus.DeviceKey
    do {
      let sealing = try shelf.sealing()
      deviceKey =
        sealing.map { .sealed($0) } ?? .unavailable("there is no device key yet; it is made at the first need")
    } catch {
      deviceKey = .unavailable(error.description)
    }
    do {
      let (record, registered, domainState) = try withKeychain(of: user) { keychain throws(KeychainError) in
        (try keychain.lockout(), try keychain.biometrySet(), try keychain.biometryDomainState())
      }
      let (keybag, hasRecoveryKey) = try withKeychain(of: user) { keychain throws(KeychainError) in
        (try keychain.keybagState(), try keychain.hasRecoveryKey())
      }
      return EnclaveStatus(
        misses: record.misses, missesAllowed: LockoutPolicy.allowedMisses, isLockedOut: isLockedOut(user: user),
        passcodeDelay: try passcodeWait(of: user), registered: registered, domainState: domainState,
        keybag: keybag, isFormerPasscodeNeeded: pendingPasscodes[user] != nil, hasRecoveryKey: hasRecoveryKey,
        deviceKey: deviceKey, storeError: nil)
    } catch {
      return EnclaveStatus(
        misses: 0, missesAllowed: LockoutPolicy.allowedMisses, isLockedOut: true,
        passcodeDelay: (try? recoveryWait(of: user)) ?? 0, registered: [],
        domainState: [], keybag: nil, isFormerPasscodeNeeded: false, hasRecoveryKey: false, deviceKey: deviceKey,
        storeError: error.message)
    }
  }
}
