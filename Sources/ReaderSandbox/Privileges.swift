internal import CPosix
internal import Glibc
internal import ReaderLink

/// Users, groups and capabilities.
enum Privileges {
  /// The kernel has at most 64.
  private static let capabilities: Range<UInt> = 0..<64

  /// Becomes the account (nil keeps the user) and gives up every capability, now and for whatever might be executed.
  static func shed(becoming account: Account?) throws(ReaderSandbox.Failure) {
    try check(cposix_prctl(Int32(cposix_PR_SET_NO_NEW_PRIVS), 1), "no_new_privs")
    try emptyBoundingSet(isRequired: account != nil)
    if let account { try become(account) }
    try check(
      cposix_prctl(Int32(cposix_PR_CAP_AMBIENT), UInt(cposix_PR_CAP_AMBIENT_CLEAR_ALL)), "PR_CAP_AMBIENT_CLEAR_ALL")
    try check(cposix_capset_none(), "capset")
    var left = cposix_capabilities()
    try check(cposix_capget(&left), "capget")
    guard left.effective | left.permitted | left.inheritable == 0 else { throw kept("capabilities") }
  }

  /// - Parameter isRequired: an ordinary user in private mode may not do this, and has nothing to bound.
  private static func emptyBoundingSet(isRequired: Bool) throws(ReaderSandbox.Failure) {
    var own = cposix_capabilities()
    try check(cposix_capget(&own), "capget")
    let mayBound = own.effective & (1 << UInt64(cposix_CAP_SETPCAP)) != 0
    let isBounded = capabilities.allSatisfy { cposix_prctl(Int32(cposix_PR_CAPBSET_READ), $0) <= 0 }
    guard mayBound || (isRequired && !isBounded) else { return }
    for capability in capabilities where cposix_prctl(Int32(cposix_PR_CAPBSET_READ), capability) == 1 {
      try check(cposix_prctl(Int32(cposix_PR_CAPBSET_DROP), capability), "PR_CAPBSET_DROP")
    }
    try check(cposix_prctl(Int32(cposix_PR_SET_SECUREBITS), UInt(cposix_SECUREBITS_SHED)), "PR_SET_SECUREBITS")
  }

  private static func become(_ account: Account) throws(ReaderSandbox.Failure) {
    if geteuid() == 0 { try check(setgroups(0, nil), "setgroups") }
    try check(setresgid(account.group, account.group, account.group), "setresgid")
    try check(setresuid(account.user, account.user, account.user), "setresuid")
    // What the kernel says now counts, not what the calls returned.
    var users: (uid_t, uid_t, uid_t) = (0, 0, 0)
    var groups: (gid_t, gid_t, gid_t) = (0, 0, 0)
    try check(getresuid(&users.0, &users.1, &users.2), "getresuid")
    try check(getresgid(&groups.0, &groups.1, &groups.2), "getresgid")
    guard users == (account.user, account.user, account.user) else { throw kept("its user") }
    guard groups == (account.group, account.group, account.group) else { throw kept("its group") }
    var others = [gid_t](repeating: 0, count: 64)
    let count = Int(getgroups(Int32(others.count), &others))
    guard count >= 0, others.prefix(count).allSatisfy({ $0 == account.group }) else { throw kept("other groups") }
    guard setresuid(0, 0, 0) != 0 else { throw kept("the way back to root") }
  }

  private static func kept(_ what: String) -> ReaderSandbox.Failure {
    ReaderSandbox.Failure(exit: .notShed, line: "whorl-reader cannot shed its rights: it still has \(what)")
  }
}
