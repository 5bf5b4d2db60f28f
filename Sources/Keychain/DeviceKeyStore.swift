public import SecretMemory

/// What the device key is sealed to.
public enum DeviceKeySealing: String, Sendable, CaseIterable {
  /// The host key that systemd keeps on the same disk: who has the disk has both.
  case host = "host"
  /// The host key and the machine's TPM2: the disk alone is not enough.
  case hostAndTPM2 = "host+tpm2"
}

/// The machine's device key, sealed by `systemd-creds` in a file.
public struct DeviceKeyStore: Sendable {
  /// A store in the file `path`, made at first use.
  /// - Parameters:
  ///   - path: the sealed file; its folder must exist, be owned by the caller and closed to others.
  ///   - credentialSecret: in private mode, the file that takes the place of systemd's own host key.
  ///   - program: where systemd-creds is.
  public init(path: String, credentialSecret: String? = nil, program: String = "/usr/bin/systemd-creds") {}

  /// The device key, 32 bytes; makes and seals one where there is no file yet.
  /// - Parameter create: whether a key may be made; without, a missing file is an error.
  /// - Throws: `.deviceKey`, saying why and what to do. A file that cannot be opened is never replaced.
  public func load(create: Bool = true) throws(KeychainError) -> SecretBytes { throw .unsupported("device key") }

  /// What the stored key is sealed to; nil where there is none yet.
  public func sealing() throws(KeychainError) -> DeviceKeySealing? { throw .unsupported("device key") }
}
