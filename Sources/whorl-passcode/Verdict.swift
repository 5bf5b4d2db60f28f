import CPAM

/// What the exit status says. whorld takes every other status, and death by a signal, as `unavailable`.
enum Verdict: Int32 {
  /// The passcode is the user's, and the account may be used.
  case right = 0
  /// It is not.
  case wrong = 1
  /// The account has no passcode, or is locked, expired or unknown: no passcode will do.
  case notSet = 2
  /// Nobody could judge: PAM is not set up, a module failed, the arguments or the input make no sense.
  case unavailable = 3

  /// What PAM's answer to the passcode means.
  init(authentication code: Int32) {
    switch code {
    case PAM_SUCCESS: self = .right
    case PAM_AUTH_ERR, PAM_MAXTRIES: self = .wrong
    case PAM_USER_UNKNOWN, PAM_ACCT_EXPIRED, PAM_CRED_EXPIRED, PAM_NEW_AUTHTOK_REQD: self = .notSet
    default: self = .unavailable
    }
  }

  /// What PAM's answer to the state of the account means, once the passcode was right.
  init(account code: Int32) {
    switch code {
    case PAM_SUCCESS: self = .right
    case PAM_USER_UNKNOWN, PAM_ACCT_EXPIRED, PAM_CRED_EXPIRED, PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED,
      PAM_PERM_DENIED, PAM_AUTH_ERR:
      self = .notSet
    default: self = .unavailable
    }
  }
}
