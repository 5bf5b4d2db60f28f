public import Keychain

extension Enclave {
  /// A finger was enrolled: from now on its print can release secrets. Items bound to the set of fingers lose their
  /// secrets for good.
  ///
  /// To be called once the print is on the disk. Where it fails the print still opens logins, and no secret.
  /// - Parameters:
  ///   - finger: 1 (left thumb) to 10 (right little).
  ///   - reader: the reader, as `driver/device-id`.
  ///   - print: the print's bytes as on the disk.
  public func enrolled(user: UserID, finger: UInt8, reader: String, print: [UInt8]) throws(EnclaveError) {
    try withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.recordEnrolment(finger: finger, reader: reader, print: print)
    }
    forgetTouches(of: user)
  }

  /// A finger is being deleted. Items bound to the set of fingers lose their secrets for good.
  ///
  /// To be called before the print leaves the disk; where this fails the print should stay, so that nobody believes the
  /// finger gone from the set.
  /// - Returns: whether the finger was registered.
  @discardableResult
  public func deleted(user: UserID, finger: UInt8, reader: String) throws(EnclaveError) -> Bool {
    let wasThere = try withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.recordDeletion(finger: finger, reader: reader)
    }
    forgetTouches(of: user)
    return wasThere
  }

  /// Whether a print may release the user's secrets; also false where that cannot be found out.
  public func isRegistered(_ print: [UInt8], user: UserID) -> Bool {
    let member = try? withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.isRegistered(print: print)
    }
    return member != nil
  }
}
