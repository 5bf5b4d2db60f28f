internal import CSodium
public import SecretMemory

/// The key that a person keeps on paper: opens the keychain without the passcode and without this machine's device key.
///
/// 160 random bits and 15 bits of check, as 35 characters in groups of five: digits and letters without I, L, O and U
/// (Crockford's base 32). It is shown once, when it is made, and stored nowhere.
public struct RecoveryKey: ~Copyable, Sendable {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let secretBytes = 20
  private static let digits = 35
  private static let group = 5

  let secret: SecretBytes

  /// A new one.
  /// - Throws: `.memory`.
  public init() throws(KeychainError) {
    secret = try guarded { () throws(SecretMemoryError) in try SecretBytes.random(count: Self.secretBytes) }
  }

  /// One that a person typed: case, spaces and dashes do not matter, and letters that look like digits count as those.
  /// nil where it is none, mistyped in one character or more (all but one in 32,768 of those are noticed).
  /// - Throws: `.memory`.
  public init?(typed: borrowing SecretBytes) throws(KeychainError) {
    var digits = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Self.digits) }
    let count = digits.withUnsafeMutableBytes { target in
      typed.withUnsafeBytes { source -> Int? in
        var count = 0
        for byte in source where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
          guard count < Self.digits, let digit = Self.digit(byte) else { return nil }
          target[count] = digit
          count += 1
        }
        return count
      }
    }
    guard count == Self.digits else { return nil }
    var secret = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Self.secretBytes) }
    secret.withUnsafeMutableBytes { target in
      digits.withUnsafeBytes { source in
        // Eight digits of five bits are five bytes.
        for block in 0..<4 {
          let bits = source[(block * 8)..<(block * 8 + 8)].reduce(UInt64(0)) { $0 << 5 | UInt64($1) }
          for byte in 0..<5 { target[block * 5 + byte] = UInt8(truncatingIfNeeded: bits >> UInt64(32 - byte * 8)) }
        }
      }
    }
    let isRight = digits.withUnsafeBytes { source in Self.check(secret) == Array(source[32...]) }
    guard isRight else { return nil }
    self.secret = secret
  }

  /// What a person writes down: `XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX`.
  /// - Throws: `.memory`.
  public func text() throws(KeychainError) -> SecretBytes {
    var digits = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Self.digits) }
    digits.withUnsafeMutableBytes { target in
      secret.withUnsafeBytes { source in
        for block in 0..<4 {
          let bits = source[(block * 5)..<(block * 5 + 5)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
          for digit in 0..<8 { target[block * 8 + digit] = UInt8(bits >> UInt64(35 - digit * 5) & 31) }
        }
      }
      for (index, digit) in Self.check(secret).enumerated() { target[32 + index] = digit }
    }
    let length = Self.digits + Self.digits / Self.group - 1
    var text = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: length) }
    text.withUnsafeMutableBytes { target in
      digits.withUnsafeBytes { source in
        var place = 0
        for index in 0..<Self.digits {
          if index > 0, index % Self.group == 0 {
            target[place] = UInt8(ascii: "-")
            place += 1
          }
          target[place] = Self.alphabet[Int(source[index])]
          place += 1
        }
      }
    }
    return text
  }

  /// The key of a keybag slot.
  func slotKey(_ label: String, user: UserID) throws(KeychainError) -> SecretBytes {
    // BLAKE2b takes keys of 16 bytes and more; what has 160 random bits needs no stretching.
    try withUnsafeBytes(of: user.rawValue.littleEndian) { context throws(KeychainError) in
      try Sealing.deriveKey(secret, label: label, context: context)
    }
  }

  private static func check(_ secret: borrowing SecretBytes) -> [UInt8] {
    let hash = Sealing.keyedHash(Array("whorl recovery key check".utf8), key: secret, count: 16)
    let bits = UInt16(hash[0]) << 8 | UInt16(hash[1])
    return [UInt8(bits >> 11 & 31), UInt8(bits >> 6 & 31), UInt8(bits >> 1 & 31)]
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return alphabet.firstIndex(of: upper).map(UInt8.init)
    }
  }
}
