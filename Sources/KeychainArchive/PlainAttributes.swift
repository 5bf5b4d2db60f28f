/// The attributes of a generic password in the byte form that the keychain reads: for items that come from a list.
///
/// The form stands in ARCHITECTURE.md, "The export file".
public enum PlainAttributes {
  private static let genericPassword: UInt8 = 1
  private static let service: UInt8 = 1
  private static let account: UInt8 = 2
  private static let label: UInt8 = 4

  /// A generic password of that service, whose account and label are `name`; its dates are those of the import.
  public static func bytes(service: String, name: String) -> [UInt8] {
    // Created, modified, lost its secret: 0 is "not known" and "not".
    var bytes = [UInt8](repeating: 0, count: 3 * 8)
    bytes.append(genericPassword)
    for (tag, text) in [(Self.service, service), (account, name), (label, name)] {
      bytes.append(tag)
      bytes += littleEndian(UInt32(text.utf8.count))
      bytes += text.utf8
    }
    return bytes
  }
}
