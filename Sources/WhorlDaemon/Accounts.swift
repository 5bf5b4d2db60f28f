internal import Glibc
public import Keychain

/// One account, as the name service gives it.
public struct Account: Sendable, Hashable {
  /// The uid, which everything but print folders is keyed on.
  public let user: UserID
  /// The name as the name service spells it; print folders carry it.
  public let name: String
}

/// Looks accounts up through NSS. Blocking, as NSS is; answers come from the local files in microseconds.
public enum Accounts {
  /// The account of that name, in the spelling that the name service has for it; nil where there is none.
  public static func named(_ name: String) -> Account? {
    guard !name.isEmpty, name.utf8.count <= 256, !name.utf8.contains(0) else { return nil }
    return lookUp { entry, buffer, size, result in getpwnam_r(name, entry, buffer, size, result) }
  }

  /// The account with that uid; nil where there is none.
  public static func with(_ user: UserID) -> Account? {
    lookUp { entry, buffer, size, result in getpwuid_r(user.rawValue, entry, buffer, size, result) }
  }

  private typealias Query = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
    UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private static func lookUp(_ query: Query) -> Account? {
    var size = 4096
    while size <= 1 << 20 {
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      defer { buffer.deallocate() }
      var entry = passwd()
      var result: UnsafeMutablePointer<passwd>?
      let code = query(&entry, buffer, size, &result)
      if code == ERANGE {
        size *= 4
        continue
      }
      guard code == 0, result != nil, let name = entry.pw_name, let text = String(validatingCString: name) else {
        return nil
      }
      return Account(user: UserID(entry.pw_uid), name: text)
    }
    return nil
  }
}
