/// Base64 (RFC 4648) and the PEM of public keys.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

  /// The text of `bytes`, on one line.
  static func text(_ bytes: [UInt8]) -> String {
    var result = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
      var four: [Character] = []
      for _ in 0..<4 {
        four.insert(digits[Int(bits & 63)], at: 0)
        bits >>= 6
      }
      result += String(four.prefix(group.count + 1)) + String(repeating: "=", count: 3 - group.count)
    }
    return result
  }

  /// What stands before the bytes of a public key in its SubjectPublicKeyInfo (RFC 5480, RFC 8410).
  private static func head(_ kind: KeyKind) -> [UInt8] {
    switch kind {
    case .ed25519: [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    case .p256:
      [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
      ]
    }
  }

  /// A public key as other programs read it, without a newline at its end.
  static func pem(_ kind: KeyKind, _ publicKey: [UInt8]) -> String {
    var rest = Substring(text(head(kind) + publicKey))
    var lines = ["-----BEGIN PUBLIC KEY-----"]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + ["-----END PUBLIC KEY-----"]).joined(separator: "\n")
  }
}
