/// The state of what can open secrets, at one moment. See ``LAContext/domainState``.
public final class LADomainState: NSObject, Sendable {
  /// The state of the fingers.
  public let biometry: LADomainStateBiometry

  init(_ biometry: LADomainStateBiometry) { self.biometry = biometry }

  /// That of the fingers, since there is nothing else here; nil where there are none.
  public var stateHash: Data? { biometry.stateHash }
}

/// The state of the fingers that open secrets, at one moment.
public final class LADomainStateBiometry: NSObject, Sendable {
  /// What kind of reader there is.
  public let biometryType: LABiometryType
  /// Bytes that change when a finger that opens secrets is enrolled or deleted, and only then; nil where there is none.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    self.biometryType = biometryType
    self.stateHash = stateHash
  }
}
