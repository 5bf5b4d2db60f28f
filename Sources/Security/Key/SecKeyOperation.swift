internal import KeyPairs

/// What is done with a key. The numbers are Apple's.
public enum SecKeyOperationType: CFIndex, Hashable, Sendable, CaseIterable {
  /// Signing, with a private key.
  case sign = 0
  /// Checking a signature, with a public key.
  case verify = 1
  /// Encrypting. Nothing here does that.
  case encrypt = 2
  /// Decrypting. Nothing here does that.
  case decrypt = 3
  /// Agreeing on a secret, with a private key.
  case keyExchange = 4
}

/// What ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`` takes besides the keys.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
  /// The key of the dictionary.
  public let rawValue: CFString
  /// The parameter of that name.
  public init(rawValue: CFString) { self.rawValue = rawValue }

  /// How many bytes are wanted, as a number: 1 to 1048576.
  public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
  /// What both sides know besides, as data.
  public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

/// What an algorithm is made of.
enum KeyProcedure: Hashable {
  /// A signature, made and checked.
  case signature(SignatureAlgorithm)
  /// An agreement on the X coordinate itself (nil), or on what is derived from it.
  case agreement(X963KDF?)

  private static let all: [SecKeyAlgorithm: KeyProcedure] = [
    .ecdsaSignatureMessageX962SHA256: .signature(.ecdsaSHA256),
    .ecdsaSignatureMessageX962SHA384: .signature(.ecdsaSHA384),
    .ecdsaSignatureMessageX962SHA512: .signature(.ecdsaSHA512),
    .ecdsaSignatureDigestX962SHA256: .signature(.ecdsaDigestSHA256),
    .ecdsaSignatureDigestX962SHA384: .signature(.ecdsaDigestSHA384),
    .ecdsaSignatureDigestX962SHA512: .signature(.ecdsaDigestSHA512),
    .eddsaSignatureMessageCurve25519SHA512: .signature(.ed25519),
    .ecdhKeyExchangeStandard: .agreement(nil),
    .ecdhKeyExchangeStandardX963SHA256: .agreement(.sha256),
    .ecdhKeyExchangeStandardX963SHA384: .agreement(.sha384),
    .ecdhKeyExchangeStandardX963SHA512: .agreement(.sha512),
    // The cofactor of P-256 is 1.
    .ecdhKeyExchangeCofactor: .agreement(nil),
    .ecdhKeyExchangeCofactorX963SHA256: .agreement(.sha256),
    .ecdhKeyExchangeCofactorX963SHA384: .agreement(.sha384),
    .ecdhKeyExchangeCofactorX963SHA512: .agreement(.sha512),
  ]

  /// That of an algorithm; nil for one that nothing here does.
  init?(_ algorithm: SecKeyAlgorithm) {
    guard let found = Self.all[algorithm] else { return nil }
    self = found
  }

  /// Whether a key can be used so.
  func suits(_ key: SecKey, for operation: SecKeyOperationType) -> Bool {
    switch (self, operation) {
    case (.signature(let algorithm), .sign): key.isPrivate && algorithm.keyType == key.publicKey.type
    case (.signature(let algorithm), .verify): !key.isPrivate && algorithm.keyType == key.publicKey.type
    case (.agreement, .keyExchange): key.isPrivate && key.publicKey.type == .p256
    default: false
    }
  }
}
