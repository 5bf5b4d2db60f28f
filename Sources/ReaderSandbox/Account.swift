internal import Glibc
internal import ReaderLink

/// The user that the bridge becomes on the system.
struct Account {
  let user: uid_t
  let group: gid_t

  /// Looks the account up.
  ///
  /// The group is the one of that name, since that is what the udev rules give; where it is not the user's own, some
  /// other account has taken the name.
  static func toBecome() throws(ReaderSandbox.Failure) -> Account {
    let name = ReaderSandbox.accountName
    guard let account = lookUp(name) else {
      throw unfit("the account \(name) is missing; run systemd-sysusers, or reinstall Whorl")
    }
    guard account.user != 0, account.group != 0 else {
      throw unfit("the account \(name) is root's; delete it and run systemd-sysusers")
    }
    guard groupNumber(name) == account.group else {
      throw unfit("the group \(name) is not the own group of the account \(name); run systemd-sysusers")
    }
    guard geteuid() == 0 || geteuid() == account.user else {
      throw ReaderSandbox.Failure(
        exit: .notRoot, line: "whorl-reader was started by uid \(geteuid()); on the system whorld runs as root")
    }
    return account
  }

  private static func unfit(_ text: String) -> ReaderSandbox.Failure {
    ReaderSandbox.Failure(exit: .noAccount, line: "whorl-reader cannot start: \(text)")
  }

  private static func lookUp(_ name: String) -> Account? {
    var buffer = [CChar](repeating: 0, count: 16384)
    var entry = passwd()
    var result: UnsafeMutablePointer<passwd>?
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
    return Account(user: entry.pw_uid, group: entry.pw_gid)
  }

  private static func groupNumber(_ name: String) -> gid_t? {
    var buffer = [CChar](repeating: 0, count: 16384)
    var entry = Glibc.group()
    var result: UnsafeMutablePointer<Glibc.group>?
    guard getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
    return entry.gr_gid
  }
}
