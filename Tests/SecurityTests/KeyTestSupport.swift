import Foundation
import Security
import Testing

/// The bytes of hexadecimal digits; blanks do not count.
func keyData(_ digits: String) -> Data {
  let values = digits.compactMap(\.hexDigitValue)
  return Data(stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
}

/// A half of a pair, as dictionaries name it.
func keyHalf(_ type: CFString, _ half: CFString, _ more: [String: Any] = [:]) -> CFDictionary {
  let base: [String: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: half]
  return base.merging(more) { $1 } as CFDictionary
}

/// What a call that takes a place for its error gave, and put there: one or the other.
func outcome<T>(
  _ call: (UnsafeMutablePointer<Unmanaged<CFError>?>?) -> T?, sourceLocation: SourceLocation = #_sourceLocation
) -> (value: T?, error: NSError?) {
  var error: Unmanaged<CFError>?
  let value = call(&error)
  #expect((value == nil) == (error != nil), sourceLocation: sourceLocation)
  let taken = error?.takeRetainedValue()
  if let taken { #expect(taken.domain == NSOSStatusErrorDomain, sourceLocation: sourceLocation) }
  return (value, taken)
}

/// A key of bytes that are one.
func key(_ type: CFString, _ half: CFString, _ data: Data, sourceLocation: SourceLocation = #_sourceLocation)
  throws -> SecKey
{
  let made = outcome { SecKeyCreateWithData(data as CFData, keyHalf(type, half), $0) }
  return try #require(made.value, "\(made.error?.localizedDescription ?? "")", sourceLocation: sourceLocation)
}

/// A private key of this process.
func newKey(_ type: CFString = kSecAttrKeyTypeECSECPrimeRandom) throws -> SecKey {
  let made = outcome {
    SecKeyCreateRandomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: 256] as CFDictionary, $0)
  }
  return try #require(made.value, "\(made.error?.localizedDescription ?? "")")
}

func publicHalf(_ key: SecKey) throws -> SecKey { try #require(SecKeyCopyPublicKey(key)) }

func bytes(_ key: SecKey) throws -> Data {
  try #require(outcome { SecKeyCopyExternalRepresentation(key, $0) }.value as Data?)
}

let p256 = kSecAttrKeyTypeECSECPrimeRandom
let ed25519 = kSecAttrKeyTypeEd25519
