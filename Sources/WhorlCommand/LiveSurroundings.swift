internal import ChildProcess
internal import Glibc

extension Surroundings {
  /// The machine that the process runs on.
  static var live: Surroundings {
    Surroundings(
      environment: ProcessEnvironment.variables, effectiveUser: geteuid(), accounts: SystemAccounts(), pamRoot: "/")
  }
}

/// The system's user database.
struct SystemAccounts: Accounts {
  func name(of user: UInt32) -> String? {
    look { entry, buffer, size, found in getpwuid_r(user, entry, buffer, size, found) }?.name
  }

  func user(named name: String) -> UInt32? {
    look { entry, buffer, size, found in getpwnam_r(name, entry, buffer, size, found) }?.user
  }

  private typealias Call = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private func look(_ call: Call) -> (name: String, user: UInt32)? {
    var size = 1024
    while size <= 1 << 20 {
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      var buffer = [CChar](repeating: 0, count: size)
      let result: (name: String, user: UInt32)?? = buffer.withUnsafeMutableBufferPointer { memory in
        guard let base = memory.baseAddress else { return .some(nil) }
        let code = call(&entry, base, memory.count, &found)
        if code == ERANGE { return nil }
        // The name points into the buffer, which is still there.
        guard code == 0, found != nil, let name = entry.pw_name else { return .some(nil) }
        return (String(cString: name), entry.pw_uid)
      }
      if let result { return result }
      size *= 2
    }
    return nil
  }
}
