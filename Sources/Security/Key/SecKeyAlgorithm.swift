/// How keys are used. The raw values are Apple's.
///
/// What is done here: ECDSA over SHA-256, SHA-384 and SHA-512 and the key agreement of P-256, raw and with the key
/// derivation of ANSI X9.63 over the same hashes, with a key of ``kSecAttrKeyTypeECSECPrimeRandom``; Ed25519 with one of
/// ``kSecAttrKeyTypeEd25519``. The other names are here for code that mentions them: ``SecKeyIsAlgorithmSupported(_:_:_:)``
/// is false for them, and every use of them fails with `errSecUnimplemented`.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  /// Apple's name for it.
  public let rawValue: CFString
  /// The algorithm of that name.
  public init(rawValue: CFString) { self.rawValue = rawValue }
}

extension SecKeyAlgorithm {
  // MARK: Signatures

  /// ECDSA over a message, by its SHA-256; the signature is DER.
  public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA256")
  /// ECDSA over a message, by its SHA-384; the signature is DER.
  public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA384")
  /// ECDSA over a message, by its SHA-512; the signature is DER.
  public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA512")
  /// ECDSA over a SHA-256 that is given, 32 bytes; the signature is DER.
  public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA256")
  /// ECDSA over a SHA-384 that is given, 48 bytes; the signature is DER.
  public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA384")
  /// ECDSA over a SHA-512 that is given, 64 bytes; the signature is DER.
  public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA512")
  /// Ed25519 over a message (RFC 8032); the signature has 64 bytes. Apple's systems know it without a public name.
  public static let eddsaSignatureMessageCurve25519SHA512 = SecKeyAlgorithm(
    rawValue: "algid:sign:EdDSA:message-Curve25519:SHA512")

  // MARK: Key agreement

  /// The X coordinate of the shared point, 32 bytes: to be put through a key derivation function.
  public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-256.
  public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDH:KDFX963:SHA256")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-384.
  public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDH:KDFX963:SHA384")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-512.
  public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDH:KDFX963:SHA512")
  /// As ``ecdhKeyExchangeStandard``: the cofactor of P-256 is 1.
  public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-256.
  public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA256")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-384.
  public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA384")
  /// As many bytes as are asked for, by ANSI X9.63 over SHA-512.
  public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA512")
}
