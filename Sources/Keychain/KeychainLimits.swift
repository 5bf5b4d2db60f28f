/// The sizes the keychain accepts.
public enum KeychainLimits {
  /// The most bytes of a secret; none at all is allowed.
  public static let secretBytes = 1 << 20
  /// The most UTF-8 bytes of each text attribute.
  public static let textBytes = 4096
  /// The most bytes of the `generic` attribute.
  public static let genericBytes = 4096
  /// The most UTF-8 bytes of a reader name.
  public static let readerBytes = 1024
  /// The most bytes of a print.
  public static let printBytes = 4 << 20
}
