public import SecretMemory

/// Why a key pair was not made, or not used. Never carries any byte of a private key.
public enum KeyPairError: Error, Equatable, Sendable, CustomStringConvertible {
  /// `what` has another number of bytes than it must have.
  case wrongLength(_ what: String, expected: Int, found: Int)
  /// The bytes are no private key of that kind: zero, or not below the order of the curve.
  case invalidPrivateKey(KeyPairType)
  /// The bytes are no public key of that kind: no point of the curve, or one that no honest private key has.
  case invalidPublicKey(KeyPairType)
  /// The bytes are not the DER of an ECDSA signature.
  case malformedSignature
  /// A key of that kind does not sign so.
  case unsuitable(SignatureAlgorithm, KeyPairType)
  /// Keys of that kind sign, and agree on nothing.
  case noAgreement(KeyPairType)
  /// No guarded memory for a private key.
  case memory(SecretMemoryError)
  /// A function of libcrypto or libsodium failed that has no reason to.
  case library(_ function: String)

  /// One line for people: what happened, to which thing, what to do next.
  public var description: String {
    switch self {
    case .wrongLength(let what, let expected, let found):
      "\(what) has \(found) bytes; give one of \(expected)"
    case .invalidPrivateKey(let type):
      "the bytes are no private key of type \(type.name); give those of one"
    case .invalidPublicKey(let type):
      "the bytes are no public key of type \(type.name); give those of one"
    case .malformedSignature:
      "the signature is not the DER of an ECDSA signature; give it as it was made"
    case .unsuitable(let algorithm, let type):
      "a key of type \(type.name) does not sign by \(algorithm.rawValue); choose another algorithm or key"
    case .noAgreement(let type):
      "a key of type \(type.name) signs and takes no part in a key agreement; use one of type \(KeyPairType.p256.name)"
    case .memory(let error):
      error.description
    case .library(let function):
      "\(function) failed; try again, and report it if it stays so"
    }
  }
}
