internal import Glibc
public import SecretMemory

/// The secret that opens the login keyring in the place of the login password.
public enum KeyringSecret {
  /// Its length: 32 random bytes in base64url without padding.
  public static let characters = 43

  /// A new one.
  /// - Throws: what ``SecretBytes`` throws.
  public static func make() throws(SecretMemoryError) -> SecretBytes {
    // One byte more, which counts as zero: 33 bytes are 44 digits, of which the last is left out.
    let random = try SecretBytes.random(count: 32)
    var text = try SecretBytes(count: characters)
    random.withUnsafeBytes { random in
      text.withUnsafeMutableBytes { text in
        for position in text.indices {
          let bit = position * 6
          let first = UInt16(random[bit / 8])
          let second = bit / 8 + 1 < random.count ? UInt16(random[bit / 8 + 1]) : 0
          let digit = UInt8((first << 8 | second) >> (10 - bit % 8) & 63)
          text[position] = character(digit)
        }
      }
    }
    return text
  }

  /// Reckoned, not looked up in a table: where in memory something is read tells nothing of the secret.
  private static func character(_ digit: UInt8) -> UInt8 {
    switch digit {
    case 0..<26: digit + UInt8(ascii: "A")
    case 26..<52: digit - 26 + UInt8(ascii: "a")
    case 52..<62: digit - 52 + UInt8(ascii: "0")
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
  }
}
