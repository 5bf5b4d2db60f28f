public import Keychain
public import SecretMemory

/// Where the enclave has the machine's device key from: `DeviceKeyStore`, or a fixed key in tests.
public protocol DeviceKeySource: Sendable {
  /// The device key, 32 bytes.
  /// - Parameter create: whether one may be made where there is none.
  /// - Throws: `.deviceKey` where it is refused or lost, `.deviceKeyUnavailable` where it cannot be had now; both say why
  ///   and what to do.
  func load(create: Bool) throws(KeychainError) -> SecretBytes
  /// A new device key in the place of one that cannot be had any more; the old file is kept.
  /// - Throws: `.deviceKey`; then the old one is in its place.
  func replace() throws(KeychainError) -> SecretBytes
  /// What the key is sealed to; nil where there is none yet.
  func sealing() throws(KeychainError) -> DeviceKeySealing?
}

extension DeviceKeyStore: DeviceKeySource {}
