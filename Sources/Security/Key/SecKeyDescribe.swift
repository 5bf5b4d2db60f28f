internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

// What is known of keys: what Apple documents under "Keys" (SecKey.h).

/// The bytes of a key outside, as ``SecKeyCreateWithData(_:_:_:)`` takes them.
///
/// For a plain private key of the keychain they are read there, which asks the user where its access control says so.
/// - Parameters:
///   - key: a key.
///   - error: gets the reason of a refusal: `errSecUnimplemented` for a private key in the enclave, which never leaves it;
///     those of the keychain.
/// - Returns: the bytes; nil with an error. They are outside guarded memory, which `CFData` is not.
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  result("SecKeyCopyExternalRepresentation", error) { () throws(ItemRequestError) in
    switch key.holder {
    case .publicHalf: return Data(key.publicKey.bytes) as CFData
    case .process(let held):
      let form = try keyPair { () throws(KeyPairError) in try ExternalForm.bytes(of: held.key) }
      return form.withUnsafeBytes { Data($0) } as CFData
    case .keychain(let stored):
      guard !stored.isInEnclave else { throw .neverLeaves }
      let loaded = try stored.load(key.publicKey)
      let form = try keyPair { () throws(KeyPairError) in try ExternalForm.bytes(of: loaded) }
      return form.withUnsafeBytes { Data($0) } as CFData
    }
  }
}

/// What a key is: its type, class and size, what it can do, what it is known by, and where it is kept. Never asks the user.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
  var item = key.item ?? WhorlItem()
  if key.item == nil { item.attributes = key.attributes }
  var result = item.attributeDictionary
  if key.item == nil {
    // Those are of what is kept.
    for name in [
      kSecAttrAccessGroup, kSecAttrSynchronizable, kSecAttrAccessible, kSecAttrAccessControl, kSecAttrCreationDate,
      kSecAttrModificationDate,
    ] {
      result[name] = nil
    }
    result[kSecAttrIsPermanent] = NSNumber(value: 0)
  }
  let agrees = key.isPrivate && key.publicKey.type == .p256
  for (name, can) in [
    (kSecAttrCanSign, key.isPrivate), (kSecAttrCanVerify, !key.isPrivate), (kSecAttrCanDerive, agrees),
    (kSecAttrCanEncrypt, false), (kSecAttrCanDecrypt, false), (kSecAttrCanWrap, false), (kSecAttrCanUnwrap, false),
  ] {
    result[name] = NSNumber(value: can ? 1 : 0)
  }
  if !key.isPrivate { result[kSecValueData] = Data(key.publicKey.bytes) }
  return result as CFDictionary
}

/// The size of a key in bytes: 32.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.publicKey.type.sizeInBits / 8 }

extension ItemRequestError {
  /// A key of the enclave's is asked for its bytes.
  static var neverLeaves: ItemRequestError {
    ItemRequestError(errSecUnimplemented, "a private key in the enclave never leaves it; sign or agree with it")
  }
}
