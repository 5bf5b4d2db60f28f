import KeyPairs
import SecretMemory
import Testing

/// The bytes of hexadecimal digits; blanks do not count.
func hex(_ digits: String) -> [UInt8] {
  let values = digits.compactMap(\.hexDigitValue)
  return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

/// The bytes of a secret as an array: for comparisons in tests alone.
func array(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

func privateKey(_ type: KeyPairType, _ digits: String) throws -> PrivateKey {
  try PrivateKey(type, bytes: try secret(hex(digits)))
}

/// The error that making a private key of these bytes ends with.
func privateKeyError(_ type: KeyPairType, _ bytes: [UInt8]) throws -> KeyPairError? {
  let bytes = try secret(bytes)
  do throws(KeyPairError) {
    _ = try PrivateKey(type, bytes: bytes)
    return nil
  } catch { return error }
}

/// The error that making a public key of these bytes ends with.
func publicKeyError(_ type: KeyPairType, _ bytes: [UInt8]) -> KeyPairError? {
  do throws(KeyPairError) {
    _ = try PublicKey(type, bytes: bytes)
    return nil
  } catch { return error }
}

/// The bytes with one bit the other way round.
func flipping(_ bit: Int, of bytes: [UInt8]) -> [UInt8] {
  var bytes = bytes
  bytes[bit / 8] ^= 1 << (bit % 8)
  return bytes
}
