/// What a PAM module may return, by Linux-PAM's numbers (`_pam_types.h`).
public enum PAMCode: UInt8, Sendable, CaseIterable {
  case success, openErr, symbolErr, serviceErr, systemErr, bufErr, permDenied, authErr, credInsufficient
  case authinfoUnavail, userUnknown, maxtries, newAuthtokReqd, acctExpired, sessionErr, credUnavail, credExpired
  case credErr, noModuleData, convErr, authtokErr, authtokRecoverErr, authtokLockBusy, authtokDisableAging, tryAgain
  case ignore, abort, authtokExpired, moduleUnknown, badItem, convAgain, incomplete

  /// Its name between the brackets of a control, as pam.conf(5) has it.
  public var name: String { Self.names[Int(rawValue)] }

  /// - Parameter name: as in ``name``; nil for one that PAM does not know.
  public init?(name: some StringProtocol) {
    guard let place = Self.names.firstIndex(where: { $0 == name }) else { return nil }
    self = Self.allCases[place]
  }

  /// In the order of the numbers.
  private static let names = [
    "success", "open_err", "symbol_err", "service_err", "system_err", "buf_err", "perm_denied", "auth_err",
    "cred_insufficient", "authinfo_unavail", "user_unknown", "maxtries", "new_authtok_reqd", "acct_expired",
    "session_err", "cred_unavail", "cred_expired", "cred_err", "no_module_data", "conv_err", "authtok_err",
    "authtok_recover_err", "authtok_lock_busy", "authtok_disable_aging", "try_again", "ignore", "abort",
    "authtok_expired", "module_unknown", "bad_item", "conv_again", "incomplete",
  ]
}

/// Some of the codes that a module may return.
public struct PAMCodes: OptionSet, Sendable, Hashable {
  /// A bit for each code, by its number.
  public let rawValue: UInt32

  /// The codes whose bits are set.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// One code.
  public init(_ code: PAMCode) { rawValue = 1 << UInt32(code.rawValue) }

  /// All of them.
  public static let anything = PAMCodes(rawValue: .max)
  /// Only success.
  public static let success = PAMCodes(.success)
  /// Only "do as if I were not there".
  public static let ignore = PAMCodes(.ignore)
  /// Everything that is neither success nor "ignore" nor, of a module that comes back later, "incomplete".
  public static let failures = anything.subtracting([
    success, ignore, PAMCodes(.newAuthtokReqd), PAMCodes(.incomplete),
  ])

  /// The codes one by one, in the order of their numbers.
  public var codes: [PAMCode] { PAMCode.allCases.filter { contains(PAMCodes($0)) } }
}
