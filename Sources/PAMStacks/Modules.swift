/// What is taken for granted about the person and the machine while a stack is played through.
public struct PAMScene: Sendable, Equatable {
  /// What pam_whorl.so says.
  public var finger: PAMCodes
  /// Whether the password that is typed is the right one.
  public var passwordIsRight: Bool
  /// What modules are known to say, by the beginning of their name and arguments, as in `pam_exec.so /bin/true`.
  public var known: [String: PAMCodes] = [:]

  /// A scene in which of the other modules no more is known than what they are.
  public init(finger: PAMCodes, passwordIsRight: Bool) {
    self.finger = finger
    self.passwordIsRight = passwordIsRight
  }

  /// Whatever pam_whorl.so may say that is not a match, also where it breaks its own rules or is not installed.
  public static let noMatchAtAll = PAMCodes.failures.union(.ignore)

  /// A finger matched; no password was typed.
  public static let match = PAMScene(finger: .success, passwordIsRight: false)
  /// The wrong finger, and no password or a wrong one.
  public static let noMatch = PAMScene(finger: [PAMCodes(.authErr), PAMCodes(.maxtries)], passwordIsRight: false)
  /// No verdict on a finger for any reason, and no password or a wrong one.
  public static let unavailable = PAMScene(
    finger: noMatchAtAll.subtracting([PAMCodes(.authErr), PAMCodes(.maxtries)]), passwordIsRight: false)
  /// No finger, and the right password.
  public static let rightPassword = PAMScene(finger: noMatchAtAll, passwordIsRight: true)
  /// No finger, and a wrong password.
  public static let wrongPassword = PAMScene(finger: noMatchAtAll, passwordIsRight: false)
}

/// What a module has to do with who somebody is.
enum ModuleRole: Sendable, Equatable {
  /// pam_whorl.so.
  case finger
  /// pam_whorl.so behind the lines that let somebody in: asks for nothing, and says yes where whorld itself saw why.
  case afterLogin
  /// Asks for the password that the scene is about.
  case password
  /// Proves by itself, and by other means, who somebody is: a token, another fingerprint module, being root.
  case proof
  /// Asks whether something holds (a group, a program's verdict); says nothing about who somebody is.
  case condition
  /// Lets everybody pass as long as nothing is wrong with the account or the machine.
  case hurdle
  /// Only does something beside it: sets variables, opens a keyring.
  case service
  /// Says always the same.
  case constant
  /// Nothing is known of it.
  case unknown
}

/// What is known of modules.
enum ModuleTable {
  static let finger = "pam_whorl.so"

  /// The role, and for hurdles, services and constants what the module says where all is well.
  private static let known: [String: (role: ModuleRole, well: PAMCodes)] = [
    finger: (.finger, []), "pam_deny.so": (.constant, PAMCodes(.authErr)), "pam_permit.so": (.constant, .success),
    "pam_debug.so": (.constant, .success),
    "pam_unix.so": (.password, []), "pam_unix2.so": (.password, []), "pam_tcb.so": (.password, []),
    "pam_sss.so": (.password, []), "pam_ldap.so": (.password, []), "pam_krb5.so": (.password, []),
    "pam_winbind.so": (.password, []), "pam_systemd_home.so": (.password, []), "pam_userdb.so": (.password, []),
    "pam_himmelblau.so": (.password, []), "pam_radius_auth.so": (.password, []),
    "pam_rootok.so": (.proof, []), "pam_u2f.so": (.proof, []), "pam_fprintd.so": (.proof, []),
    "pam_sss_gss.so": (.proof, []), "pam_ssh_agent_auth.so": (.proof, []), "pam_timestamp.so": (.proof, []),
    "pam_rhosts.so": (.proof, []), "pam_pkcs11.so": (.proof, []), "pam_p11.so": (.proof, []),
    "pam_howdy.so": (.proof, []),
    "pam_yubico.so": (.proof, []), "pam_google_authenticator.so": (.proof, []), "pam_oath.so": (.proof, []),
    "pam_fscrypt.so": (.service, .success), "pam_biomd.so": (.proof, []), "pam_wheel.so": (.condition, []),
    "pam_succeed_if.so": (.condition, []), "pam_exec.so": (.condition, []), "pam_listfile.so": (.condition, []),
    "pam_localuser.so": (.condition, []), "pam_usertype.so": (.condition, []), "pam_access.so": (.condition, []),
    "pam_script.so": (.condition, []), "pam_python.so": (.condition, []),
    "pam_faillock.so": (.hurdle, .success), "pam_tally2.so": (.hurdle, .success), "pam_tally.so": (.hurdle, .success),
    "pam_shells.so": (.hurdle, .success), "pam_nologin.so": (.hurdle, [.ignore, .success]),
    "pam_securetty.so": (.hurdle, [.ignore, .success]), "pam_time.so": (.hurdle, .success),
    "pam_sepermit.so": (.hurdle, [.ignore, .success]), "pam_abl.so": (.hurdle, .success),
    "pam_canonicalize_user.so": (.hurdle, [.ignore, .success]), "pam_lastlog.so": (.hurdle, .success),
    "pam_env.so": (.service, .ignore), "pam_faildelay.so": (.service, .ignore), "pam_group.so": (.service, .ignore),
    "pam_issue.so": (.service, .ignore), "pam_keyinit.so": (.service, .ignore), "pam_mail.so": (.service, .ignore),
    "pam_warn.so": (.service, .ignore), "pam_echo.so": (.service, [.success, .ignore]),
    "pam_cap.so": (.service, [.success, .ignore]), "pam_gnome_keyring.so": (.service, [.success, .ignore]),
    "pam_kwallet5.so": (.service, [.success, .ignore]), "pam_kwallet.so": (.service, [.success, .ignore]),
    "pam_kwallet6.so": (.service, [.success, .ignore]), "pam_mount.so": (.service, [.success, .ignore]),
    "pam_ecryptfs.so": (.service, [.success, .ignore]), "pam_selinux.so": (.service, [.success, .ignore]),
    "pam_systemd_loadkey.so": (.service, [.success, .ignore]), "pam_xauth.so": (.service, [.success, .ignore]),
    "pam_zfs_key.so": (.service, [.success, .ignore]),
  ]

  static func role(of step: PAMStep) -> ModuleRole {
    guard case .module = step.kind else { return .constant }
    if step.module == finger, step.arguments.contains("login") { return .afterLogin }
    return known[step.module]?.role ?? .unknown
  }

  /// Everything that a step may say in a scene.
  static func all(_ step: PAMStep, _ scene: PAMScene, isFirstToAsk: Bool) -> PAMCodes {
    guard case .module = step.kind else { return PAMCodes(.permDenied) }
    if step.isMissing { return PAMCodes(.moduleUnknown) }
    if let codes = known(step, scene) { return codes }
    switch role(of: step) {
    case .finger: return scene.finger
    case .afterLogin:
      let isShown = scene.finger.contains(.success) || scene.passwordIsRight
      return PAMCodes.failures.union(isShown ? .success : [])
    case .password:
      // "use_first_pass" without anybody who asked before is a password that nobody can type.
      let isDeaf = isFirstToAsk && step.arguments.contains("use_first_pass")
      return scene.passwordIsRight && !isDeaf ? .success : .failures
    case .constant: return constant(step)
    case .hurdle, .service:
      if step.module == "pam_faillock.so", step.arguments.contains("authfail") {
        return PAMCodes.failures.union(.ignore)
      }
      return .anything
    case .proof, .condition, .unknown: return .anything
    }
  }

  /// What a step says where nothing is wrong with the account and the machine: what `all` says, less what only a
  /// fault makes it say. What is required of everybody counts as met.
  static func usual(_ step: PAMStep, _ scene: PAMScene, isFirstToAsk: Bool, isBesideUnix: Bool) -> PAMCodes {
    let all = all(step, scene, isFirstToAsk: isFirstToAsk)
    guard case .module = step.kind, !step.isMissing, known(step, scene) == nil else { return all }
    switch role(of: step) {
    case .finger, .afterLogin, .constant: return all
    case .password:
      // Another database may not know who is in that of pam_unix, and the other way round.
      return isBesideUnix && scene.passwordIsRight ? all.union(.failures) : all
    case .hurdle, .service:
      if step.module == "pam_faillock.so", step.arguments.contains("authfail") { return .ignore }
      if step.module == "pam_nologin.so" { return step.arguments.contains("successok") ? .success : .ignore }
      return known[step.module]?.well ?? all
    case .proof, .condition, .unknown:
      // To ask for a new password is the account phase's, and for time nobody's.
      let answers = PAMCodes.failures.union([.success, .ignore])
      // Whoever is in the group meets the condition, and is not let in by it, without this word.
      let met: PAMCodes = step.module == "pam_wheel.so" && !step.arguments.contains("trust") ? .ignore : .success
      return step.control.isExpected ? met : answers
    }
  }

  private static func known(_ step: PAMStep, _ scene: PAMScene) -> PAMCodes? {
    guard !scene.known.isEmpty else { return nil }
    let words = ([step.module] + step.arguments).joined(separator: " ")
    return scene.known.filter { words.hasPrefix($0.key) }.max { $0.key.count < $1.key.count }?.value
  }

  /// pam_debug.so says what it is told to.
  private static func constant(_ step: PAMStep) -> PAMCodes {
    guard step.module == "pam_debug.so" else { return known[step.module]?.well ?? PAMCodes(.permDenied) }
    let word = step.arguments.first { $0.hasPrefix("auth=") }?.dropFirst("auth=".count)
    return word.flatMap { PAMCode(name: $0) }.map { PAMCodes($0) } ?? .success
  }
}
