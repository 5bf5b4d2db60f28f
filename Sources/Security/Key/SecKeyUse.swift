internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

// Using keys: what Apple documents under "Keys" (SecKey.h).
//
// Errors are in NSOSStatusErrorDomain. Where the private key is one of the keychain's, each use may ask the user and blocks
// the thread until he has answered; errors then are `errSecUserCanceled`, `errSecAuthFailed`, `errSecInteractionNotAllowed`,
// `errSecItemNotFound` for a key that was deleted or whose fingers changed, and `errSecNotAvailable` without a keychain.

/// Whether a key can be used by an algorithm. Never asks the user.
public func SecKeyIsAlgorithmSupported(
  _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
  KeyProcedure(algorithm)?.suits(key, for: operation) ?? false
}

/// Signs.
/// - Parameters:
///   - key: a private key.
///   - algorithm: how; one of the `ecdsaSignature…` or ``SecKeyAlgorithm/eddsaSignatureMessageCurve25519SHA512``.
///   - dataToSign: the message, or its hash where the algorithm says so.
///   - error: gets the reason of a refusal: `errSecParam` for a key of another kind and a hash of another length;
///     `errSecUnimplemented` for an algorithm that nothing here does; those of the keychain.
/// - Returns: the signature; nil with an error.
public func SecKeyCreateSignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  result("SecKeyCreateSignature", error) { () throws(ItemRequestError) in
    let algorithm = try signature(algorithm, key, .sign)
    let data = Array(dataToSign as Data)
    try check(data, algorithm)
    return Data(try key.sign(data, by: algorithm)) as CFData
  }
}

/// Checks a signature. Needs no keychain and asks nobody.
/// - Parameters:
///   - key: a public key.
///   - algorithm: how it was made.
///   - signedData: the message, or its hash where the algorithm says so.
///   - signature: what ``SecKeyCreateSignature(_:_:_:_:)`` gave.
///   - error: gets `errSecVerifyFailed` where the signature is not that of the key and the data; `errSecParam` for a key of
///     another kind and a hash of another length; `errSecUnimplemented` for an algorithm that nothing here does.
/// - Returns: whether it is the key's signature over the data.
public func SecKeyVerifySignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
  result("SecKeyVerifySignature", error) { () throws(ItemRequestError) in
    let procedure = try Security.signature(algorithm, key, .verify)
    let data = Array(signedData as Data)
    try check(data, procedure)
    let isValid: Bool
    do throws(KeyPairError) {
      isValid = try key.publicKey.verify(Array(signature as Data), of: data, by: procedure)
    } catch {
      switch error {
      // Bytes that are no signature at all are a wrong one.
      case .malformedSignature, .wrongLength: isValid = false
      default: throw ItemRequestError(error)
      }
    }
    guard isValid else {
      throw ItemRequestError(errSecVerifyFailed, "the signature is not the key's over this data")
    }
    return true
  } ?? false
}

/// What two sides come to, each with its own private key and the other's public one.
/// - Parameters:
///   - privateKey: a private key over P-256.
///   - algorithm: one of the `ecdhKeyExchange…`; raw, or derived by ANSI X9.63.
///   - publicKey: the other side's public key.
///   - parameters: for a derivation, by the names of ``SecKeyKeyExchangeParameter``, how many bytes are wanted and what both
///     sides know besides. The raw secret has 32 bytes and takes neither; that many may be asked for.
///   - error: gets the reason of a refusal: `errSecParam` for wrong keys and parameters; `errSecUnimplemented` for an
///     algorithm that nothing here does; those of the keychain.
/// - Returns: the shared secret; nil with an error. It is outside guarded memory, which `CFData` is not.
public func SecKeyCopyKeyExchangeResult(
  _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  result("SecKeyCopyKeyExchangeResult", error) { () throws(ItemRequestError) in
    guard case .agreement(let derivation) = try procedure(algorithm, privateKey, .keyExchange) else {
      throw unsuitable(algorithm, privateKey)
    }
    guard !publicKey.isPrivate, publicKey.publicKey.type == .p256 else {
      throw ItemRequestError(errSecParam, "the other side's key is a \(publicKey); give its public key over P-256")
    }
    let request = try ExchangeParameters(parameters, isDerived: derivation != nil)
    let secret = try privateKey.agree(with: publicKey.publicKey)
    guard let derivation else { return secret.withUnsafeBytes { Data($0) } as CFData }
    let derived = try keyPair { () throws(KeyPairError) in
      try derivation.derive(from: secret, sharedInfo: request.sharedInfo, count: request.size)
    }
    return derived.withUnsafeBytes { Data($0) } as CFData
  }
}

// MARK: - Parts

private func procedure(
  _ algorithm: SecKeyAlgorithm, _ key: SecKey, _ operation: SecKeyOperationType
) throws(ItemRequestError) -> KeyProcedure {
  guard let procedure = KeyProcedure(algorithm) else {
    throw ItemRequestError(
      errSecUnimplemented, "the algorithm \(QueryReader.shown(algorithm.rawValue)) is not done here")
  }
  guard procedure.suits(key, for: operation) else { throw unsuitable(algorithm, key) }
  return procedure
}

private func signature(
  _ algorithm: SecKeyAlgorithm, _ key: SecKey, _ operation: SecKeyOperationType
) throws(ItemRequestError) -> SignatureAlgorithm {
  guard case .signature(let found) = try procedure(algorithm, key, operation) else { throw unsuitable(algorithm, key) }
  return found
}

private func unsuitable(_ algorithm: SecKeyAlgorithm, _ key: SecKey) -> ItemRequestError {
  ItemRequestError(
    errSecParam, "a \(key) is not used so by \(QueryReader.shown(algorithm.rawValue)); choose another key or algorithm")
}

/// A hash that is given has the length of one.
private func check(_ data: [UInt8], _ algorithm: SignatureAlgorithm) throws(ItemRequestError) {
  if let expected = algorithm.dataBytes, data.count != expected {
    throw ItemRequestError(KeyPairError.wrongLength("the digest", expected: expected, found: data.count))
  }
}

extension SecKey {
  /// A signature of a private key's.
  fileprivate func sign(_ data: [UInt8], by algorithm: SignatureAlgorithm) throws(ItemRequestError) -> [UInt8] {
    switch holder {
    case .publicHalf: throw ItemRequestError(errSecParam, "a \(self) does not sign; use the private one")
    case .process(let held):
      return try keyPair { () throws(KeyPairError) in try held.key.sign(data, by: algorithm) }
    case .keychain(let stored):
      guard !stored.isInEnclave else { return try stored.sign(data, by: algorithm) }
      let key = try stored.load(publicKey)
      return try keyPair { () throws(KeyPairError) in try key.sign(data, by: algorithm) }
    }
  }

  /// The X coordinate that this private key and another side's come to.
  fileprivate func agree(with peer: PublicKey) throws(ItemRequestError) -> SecretBytes {
    switch holder {
    case .publicHalf: throw ItemRequestError(errSecParam, "a \(self) agrees on nothing; use the private one")
    case .process(let held):
      return try keyPair { () throws(KeyPairError) in try held.key.sharedSecret(with: peer) }
    case .keychain(let stored):
      guard !stored.isInEnclave else { return try stored.agree(with: peer) }
      let key = try stored.load(publicKey)
      return try keyPair { () throws(KeyPairError) in try key.sharedSecret(with: peer) }
    }
  }
}

/// What the caller of a key exchange says besides.
private struct ExchangeParameters {
  var size = 0
  var sharedInfo: [UInt8] = []

  init(_ parameters: CFDictionary, isDerived: Bool) throws(ItemRequestError) {
    // Swift's own dictionaries may have the parameters themselves for keys.
    var named: [String: Any] = [:]
    for (key, value) in parameters {
      guard let name = (key as? SecKeyKeyExchangeParameter)?.rawValue ?? key as? String else {
        throw ItemRequestError(errSecParam, "a key of the parameters is no SecKeyKeyExchangeParameter")
      }
      named[name] = value
    }
    var reader = try QueryReader(named as CFDictionary, call: "SecKeyCopyKeyExchangeResult")
    let requested = try reader.number("requestedSize", in: 1...UInt32(X963KDF.mostBytes))
    let info = try reader.data("sharedInfo")
    try reader.finish("a key exchange")
    guard isDerived else {
      guard requested == nil || requested == 32, info == nil else {
        throw ItemRequestError(
          errSecParam, "the raw secret has 32 bytes and no shared info; choose an algorithm that derives a key")
      }
      return
    }
    guard let requested else { throw ItemRequestError(errSecParam, "requestedSize is missing") }
    size = Int(requested)
    sharedInfo = info.map { Array($0) } ?? []
  }
}
