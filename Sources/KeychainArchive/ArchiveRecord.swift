public import SecretMemory

/// One item in an export file. What its byte forms say is the keychain's to check.
public struct ArchiveRecord: ~Copyable, Sendable {
  /// The item's attributes and dates, as the keychain writes them.
  public let attributes: [UInt8]
  /// What guards the item, as the keychain writes it; empty where whoever imports it is to say.
  public let accessControl: [UInt8]
  /// Its secret.
  public let secret: SecretBytes
}

/// The marks between a record's parts.
enum RecordMark {
  /// Begins an item.
  static let item: UInt8 = 1
  /// Ends a record.
  static let end: UInt8 = 0
  /// Before each field: its tag, then its length in four bytes. Tags grow within a record.
  static let attributes: UInt8 = 1
  static let accessControl: UInt8 = 2
  static let secret: UInt8 = 3
}
