internal import CPosix
internal import Enclave
internal import Glibc
public import Keychain

/// One account, as the name service gives it.
public struct Account: Sendable, Hashable {
  /// The uid, which everything but print folders is keyed on.
  public let user: UserID
  /// The name as the name service spells it; print folders carry it.
  public let name: String
  /// The home folder as the name service gives it; empty where it gives none.
  public let home: String

  init(user: UserID, name: String, home: String = "") {
    self.user = user
    self.name = name
    self.home = home
  }
}

/// Why the name service gave no answer, which is not the same as "there is no such account".
public enum AccountsError: Error, Sendable, Hashable {
  /// It failed, with this error number.
  case failed(Int32)
  /// It did not answer within so many seconds.
  case slow(seconds: Int)
  /// Too many questions wait for it already.
  case overloaded
  /// It gave an entry that cannot be used; says why.
  case unusable(String)

  /// What happened and what to do next, in one line for people.
  public var line: String {
    switch self {
    case .failed(let code):
      "The user directory cannot be asked (\(String(cString: strerror(code)))); try again, or look at nsswitch.conf."
    case .slow(let seconds): "The user directory did not answer within \(seconds) seconds; try again later."
    case .overloaded: "The user directory answers too slowly for all who ask; try again later."
    case .unusable(let why): "The user directory gave an entry that cannot be used (\(why)); have it put right."
    }
  }
}

/// Blocking questions to the name service (NSS). Only `AccountDirectory` asks them, on threads of its own.
enum Accounts {
  /// The longest name that is looked up, in bytes; no folder of prints can have a longer one.
  static let longestName = 255
  /// The largest entry that is read, in bytes.
  static let largestEntry = 1 << 20

  /// The account of that name, in the spelling that the name service has for it; nil where there is none. A name of
  /// digits is a name, never a uid.
  static func named(_ name: String) throws(AccountsError) -> Account? {
    guard (1...longestName).contains(name.utf8.count), !name.utf8.contains(0) else { return nil }
    return try lookUp { entry, buffer, size, result in getpwnam_r(name, entry, buffer, size, result) }
  }

  /// The account with that uid; nil where there is none.
  static func with(_ user: UserID) throws(AccountsError) -> Account? {
    try lookUp { entry, buffer, size, result in getpwuid_r(user.rawValue, entry, buffer, size, result) }
  }

  typealias Query = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
    UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  /// Asks again with a larger buffer, and after an interruption, for as long as that makes sense.
  static func lookUp(_ query: Query) throws(AccountsError) -> Account? {
    var size = 4096
    var interruptions = 0
    while true {
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      defer { buffer.deallocate() }
      var entry = passwd()
      var result: UnsafeMutablePointer<passwd>?
      switch query(&entry, buffer, size, &result) {
      case 0:
        guard result != nil else { return nil }
        guard let name = entry.pw_name else { throw .unusable("it has no name") }
        guard let text = String(validatingCString: name) else { throw .unusable("its name is not UTF-8") }
        let home = entry.pw_dir.flatMap { String(validatingCString: $0) } ?? ""
        return Account(user: UserID(entry.pw_uid), name: text, home: home)
      case ERANGE where size < largestEntry: size *= 4
      case EINTR where interruptions < 10: interruptions += 1
      // What getpwnam_r(3) lists for "not found", besides 0.
      case ENOENT, ESRCH, EBADF, EPERM: return nil
      case let code: throw .failed(code)
      }
    }
  }

  /// What the shadow entry of that name says of its password.
  static func passcodeState(_ name: String) -> PasscodeState {
    shadow(name) { entry in
      // Only its first character says what is asked here; the hash itself is left where it is.
      switch entry.sp_pwdp?[0] {
      case nil: .unknown
      case 0: .removed
      case CChar(UInt8(ascii: "!")), CChar(UInt8(ascii: "*")): .locked
      default: .set
      }
    } ?? .unknown
  }

  /// Whether the shadow entry of that name says that the account has expired; false where it cannot be read.
  static func isExpired(_ name: String) -> Bool {
    shadow(name) { isExpired(day: $0.sp_expire, today: time(nil) / 86_400) } ?? false
  }

  /// Whether an account whose last day is this one (in days since 1970; 0 and less: none) has expired today.
  static func isExpired(day: Int, today: Int) -> Bool { day > 0 && today >= day }

  private static func shadow<R>(_ name: String, _ body: (spwd) -> R) -> R? {
    var buffer = [CChar](repeating: 0, count: 16384)
    var entry = spwd()
    var result: UnsafeMutablePointer<spwd>?
    defer {
      buffer.withUnsafeMutableBytes { bytes in if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) } }
    }
    guard getspnam_r(name, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
    return body(entry)
  }
}
