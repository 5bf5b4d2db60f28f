/// What a guess at an export file's passphrase costs: Argon2id's passes over so much memory.
public struct ArchiveCost: Hashable, Sendable {
  /// How often the memory is gone over: 1 to 16.
  public let passes: UInt32
  /// The memory in KiB: 8 to 262,144.
  public let memoryKiB: UInt32

  /// Not what a hostile file may have its reader spend.
  static let mostPasses: UInt32 = 16
  static let leastMemoryKiB: UInt32 = 8
  static let mostMemoryKiB: UInt32 = 256 << 10

  /// Three passes over 256 MiB (libsodium's "moderate"): about a second, for what people type.
  public static let standard = ArchiveCost(trusted: 3, 256 << 10)
  /// As little as there can be: for a passphrase that is a random key.
  public static let none = ArchiveCost(trusted: 1, leastMemoryKiB)

  /// That many passes over that much memory.
  /// - Throws: `.refusedCost` where one of them is out of its range.
  public init(passes: UInt32, memoryKiB: UInt32) throws(ArchiveError) {
    guard (1...Self.mostPasses).contains(passes) else { throw .refusedCost("\(passes) passes of Argon2id") }
    guard (Self.leastMemoryKiB...Self.mostMemoryKiB).contains(memoryKiB) else {
      throw .refusedCost("\(memoryKiB) KiB of memory")
    }
    self.init(trusted: passes, memoryKiB)
  }

  private init(trusted passes: UInt32, _ memoryKiB: UInt32) {
    self.passes = passes
    self.memoryKiB = memoryKiB
  }
}
