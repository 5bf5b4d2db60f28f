/// The sizes that an export file may have.
public enum ArchiveLimits {
  /// The most bytes of a whole file.
  public static let fileBytes = 256 << 20
  /// The most bytes of a secret.
  public static let secretBytes = 1 << 20
  /// The most bytes of an item's attributes.
  public static let attributeBytes = 256 << 10
  /// The most bytes of an item's access control.
  public static let accessControlBytes = 4096
  /// The most bytes of a passphrase.
  public static let passphraseBytes = 1024
  /// The bytes before the first chunk.
  public static let headerBytes = ArchiveHeader.byteCount
  /// The bytes of content in each chunk but the last.
  static let chunkBytes = 64 << 10
}
