internal import CSodium
public import SecretMemory

/// What turns a password into a key: a salt and how much work it is (Argon2id, RFC 9106). 25 bytes in the file:
/// version, passes, KiB of memory, salt.
public struct StretchingParameters: Hashable, Sendable {
  private static let version: UInt8 = 1
  static let byteCount = 25
  private static let saltBytes = Int(crypto_pwhash_SALTBYTES)

  /// The passes over the memory, 1 to 16.
  let passes: UInt32
  /// The memory in KiB, 8 to 1 GiB.
  let kibibytes: UInt32
  let salt: [UInt8]

  /// How much work an attempt is.
  public struct Cost: Hashable, Sendable {
    let passes: UInt32
    let kibibytes: UInt32

    /// Of passcodes and programs' passwords: 64 MiB and 3 passes, about a fifth of a second.
    public static let usual = Cost(passes: 3, kibibytes: 64 << 10)
    /// Where nothing else guards the key: 256 MiB and 4 passes, about a second.
    public static let high = Cost(passes: 4, kibibytes: 256 << 10)
    /// For tests alone.
    public static let none = Cost(passes: 1, kibibytes: 8)
  }

  /// Fresh ones, with a salt of their own.
  public init(cost: Cost = .usual) {
    passes = cost.passes
    kibibytes = cost.kibibytes
    salt = Sealing.randomBytes(Self.saltBytes)
  }

  /// How much work they are.
  public var cost: Cost { Cost(passes: passes, kibibytes: kibibytes) }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.version)
    writer.write(passes)
    writer.write(kibibytes)
    return writer.bytes + salt
  }

  /// nil where the bytes are no such form, or ask for more work than any keychain does: a hostile file must not hold
  /// whorld up.
  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    let numbers: (version: UInt8?, passes: UInt32?, kibibytes: UInt32?) = bytes.withUnsafeBytes { source in
      var reader = ByteReader(source)
      return (reader.number(UInt8.self), reader.number(UInt32.self), reader.number(UInt32.self))
    }
    guard numbers.version == Self.version, let passes = numbers.passes, let kibibytes = numbers.kibibytes,
      (1...16).contains(passes), (8...1 << 20).contains(kibibytes)
    else { return nil }
    self.passes = passes
    self.kibibytes = kibibytes
    salt = Array(bytes.suffix(Self.saltBytes))
  }
}

/// A password after the work: a key, and what it was made with. Sendable, and wiped when the last holder lets go.
public final class StretchedPassword: Sendable {
  /// What it was made with.
  public let parameters: StretchingParameters
  let key: SecretBytes

  /// Does the work: takes the time and memory that the parameters say, so that it belongs on no actor that others wait
  /// for.
  /// - Throws: `.memory` where there is not enough.
  public init(_ password: borrowing SecretBytes, parameters: StretchingParameters) throws(KeychainError) {
    var key = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Sealing.keyBytes) }
    let done = key.withUnsafeMutableBytes { target in
      password.withUnsafeBytes { source in
        guard let result = target.bindMemory(to: UInt8.self).baseAddress else { return false }
        // libsodium wants a pointer for an empty password too.
        var nothing: CChar = 0
        return withUnsafePointer(to: &nothing) { empty in
          crypto_pwhash(
            result, UInt64(target.count), source.bindMemory(to: CChar.self).baseAddress ?? empty, UInt64(source.count),
            parameters.salt, UInt64(parameters.passes), Int(parameters.kibibytes) << 10,
            crypto_pwhash_ALG_ARGON2ID13) == 0
        }
      }
    }
    guard done else { throw .io("\(parameters.kibibytes) KiB of memory for the password could not be had") }
    self.parameters = parameters
    self.key = key
  }
}
