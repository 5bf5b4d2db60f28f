/// The form of an ECDSA signature: SEQUENCE { INTEGER r, INTEGER s } in DER, where every number has one form only.
enum ECDSASignature {
  /// Whether the bytes are that form of two positive numbers of at most 32 bytes, and nothing besides.
  static func isDER(_ bytes: [UInt8]) -> Bool {
    // Short enough for a length of one byte.
    guard bytes.count >= 8, bytes.count <= P256.signatureBytes, bytes[0] == 0x30, Int(bytes[1]) == bytes.count - 2
    else { return false }
    var rest = bytes[2...]
    return takeNumber(&rest) && takeNumber(&rest) && rest.isEmpty
  }

  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.popFirst() == 0x02, let count = rest.popFirst(), count > 0, Int(count) <= rest.count else {
      return false
    }
    let number = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    guard let first = number.first, first & 0x80 == 0 else { return false }  // negative
    // A leading zero stands only where the number would be negative without it, and alone it is 0, which is none.
    if first == 0, number.dropFirst().first.map({ $0 & 0x80 == 0 }) ?? true { return false }
    return count <= 32 || (count == 33 && first == 0)
  }
}
