internal import WhorlClient

// Making keys: what Apple documents under "Keys" (SecKey.h).
//
// Errors are in NSOSStatusErrorDomain, with a line for people that names what was wrong.

/// Makes a key pair, and gives its private half.
///
/// Types are ``kSecAttrKeyTypeECSECPrimeRandom`` (P-256) and ``kSecAttrKeyTypeEd25519``, of 256 bits. With
/// `kSecAttrIsPermanent` in `kSecPrivateKeyAttrs` the private half is kept in the keychain, in `kSecPublicKeyAttrs` the
/// public one, beside them both. With ``kSecAttrTokenID`` the enclave makes the private half and it never leaves it; such a
/// key is always kept, so that `kSecAttrIsPermanent` has to be true for it. Otherwise it may be exported.
/// - Parameters:
///   - parameters: the type, the size, and what is said of both halves or each.
///   - error: gets the reason of a refusal: `errSecParam`; `errSecUnimplemented` for keys that are not made here;
///     `errSecDuplicateItem`; `errSecInteractionNotAllowed` while the protection class is locked; `errSecNotAvailable`
///     without a keychain; and others.
/// - Returns: the private key; nil with an error.
public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  result("SecKeyCreateRandomKey", error) { () throws(ItemRequestError) in
    try KeyMaker(try KeyGeneration(parameters)).make()
  }
}

/// Makes a key of its external representation. It is not kept: `SecItemAdd` with `kSecValueRef` does that.
/// - Parameters:
///   - keyData: P-256 in the form of ANSI X9.63: 04 || X || Y (65 bytes) for a public key, with the scalar behind it
///     (97 bytes) for a private one. Ed25519 in that of RFC 8032: the public key, or the seed of the private one, 32 bytes.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`; `kSecAttrKeySizeInBits`, a label and a tag may be given.
///   - error: gets the reason of a refusal: `errSecParam` also for data that is no such key; `errSecUnimplemented` for kinds
///     and sizes of keys that there are not here; `errSecAllocate`.
/// - Returns: the key; nil with an error.
public func SecKeyCreateWithData(
  _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  result("SecKeyCreateWithData", error) { () throws(ItemRequestError) in
    try KeyImport(attributes).key(keyData as Data)
  }
}

/// The public half of a key; of a public key, itself. Never asks the user.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
  guard key.isPrivate else { return key }
  var attributes = key.attributes
  attributes.persistentReference = nil
  attributes.keyClass = KeyHalf.publicHalf.role
  return SecKey(key.publicKey, .publicHalf, attributes: attributes)
}

/// What a body gives; nil, with its error in the caller's place for it, where it throws. A wrong query is noted in the log.
func result<T>(
  _ function: String, _ place: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws(ItemRequestError) -> T
) -> T? {
  do throws(ItemRequestError) {
    return try body()
  } catch {
    let isNamed = error.message.hasPrefix(function)
    let named = isNamed ? error : ItemRequestError(error.status, "\(function): \(error.message)")
    if error.status == errSecParam || error.status == errSecUnimplemented { SecLog.refuse(named) }
    place?.pointee = .passRetained(.status(named.status, named.message))
    return nil
  }
}
