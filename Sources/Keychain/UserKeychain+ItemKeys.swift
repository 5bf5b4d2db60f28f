internal import SecretMemory

/// How an item's key is wrapped.
extension UserKeychain {
  /// An item key as it is stored: under the class key, and inside that under a program's own password where the item has
  /// one, behind what that is stretched with.
  func wrap(
    _ key: borrowing SecretBytes, _ accessControl: AccessControl, _ binding: ItemBinding,
    _ applicationPassword: StretchedPassword?
  ) throws(KeychainError) -> [UInt8] {
    let outer = try wrappingKey(accessControl)
    guard accessControl.needsApplicationPassword else {
      return Sealing.seal(key, key: outer, associatedData: binding.associatedData(.itemKey))
    }
    guard let applicationPassword else { throw .applicationPasswordNeeded }
    let inner = Sealing.seal(
      key, key: applicationPassword.key, associatedData: binding.associatedData(.programItemKey))
    return applicationPassword.parameters.bytes
      + inner.withUnsafeBytes {
        Sealing.seal($0, key: outer, associatedData: binding.associatedData(.itemKey))
      }
  }

  /// nil where the bytes are not what was stored.
  func unwrap(
    _ wrapped: [UInt8], _ accessControl: AccessControl, _ binding: ItemBinding,
    _ applicationPassword: StretchedPassword?
  ) throws(KeychainError) -> SecretBytes? {
    let outer = try wrappingKey(accessControl)
    guard accessControl.needsApplicationPassword else {
      guard let key = try Sealing.open(wrapped, key: outer, associatedData: binding.associatedData(.itemKey)),
        key.count == Sealing.keyBytes
      else { return nil }
      return key
    }
    guard let applicationPassword else { throw .applicationPasswordNeeded }
    guard let inner = try programsPart(wrapped, outer, binding) else { return nil }
    guard StretchingParameters(wrapped.prefix(StretchingParameters.byteCount)) == applicationPassword.parameters,
      let key = try Sealing.open(
        inner, key: applicationPassword.key, associatedData: binding.associatedData(.programItemKey)),
      key.count == Sealing.keyBytes
    else { throw .wrongApplicationPassword }
    return key
  }

  /// What a program's own password opens; nil where the bytes are not what was stored.
  func programsPart(
    _ wrapped: [UInt8], _ outer: borrowing SecretBytes, _ binding: ItemBinding
  ) throws(KeychainError) -> [UInt8]? {
    guard
      let inner = try Sealing.open(
        Array(wrapped.dropFirst(StretchingParameters.byteCount)), key: outer,
        associatedData: binding.associatedData(.itemKey))
    else { return nil }
    return inner.withUnsafeBytes { Array($0) }
  }

  /// The key that wraps the item keys of this access control.
  func wrappingKey(_ accessControl: AccessControl) throws(KeychainError) -> SecretBytes {
    try withClassKey(accessControl.protection) { classKey throws(KeychainError) in
      try wrappingKey(accessControl, under: classKey)
    }
  }

  /// The key that wraps the item keys of this access control under that class key.
  func wrappingKey(
    _ accessControl: AccessControl, under classKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    guard accessControl.isBoundToBiometrySet else { return try Sealing.deriveKey(classKey, label: "item-key") }
    let set = try BiometrySetStore.read(from: database, user: user, keys: keys)
    guard !set.members.isEmpty else {
      throw .invalidParameter("no finger is registered for an item to be bound to")
    }
    return try set.record.wrappingKey(under: classKey)
  }
}
