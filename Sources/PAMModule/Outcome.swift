import CPAM
import CSystemd

/// How one authentication ended. The table from outcomes to PAM codes is this file and nothing else; the man page
/// pam_whorl(8) repeats it.
enum Outcome: Int32, CaseIterable {
  /// A finger of the user matched.
  case match = 1
  /// A line with `login`: whorld itself saw the finger or the password of this login.
  case proven
  /// A line with `login`: nothing to prove or to unlock.
  case nothingToDo
  /// Every try was some other finger.
  case noMatch
  /// The name is none that whorld knows, or cannot be anyone's name.
  case unknownUser
  /// The host program's conversation failed, refused or is missing.
  case conversationFailed
  /// The user is elsewhere: PAM_RHOST names another machine.
  case remote
  /// Nobody can be asked: no terminal, or a service that the administrator left out.
  case unattended
  /// The person gave a password, or went on to it.
  case passedOver
  /// whorld cannot tell for a reason that is no fault: no reader, no fingers, locked out, busy, cancelled, denied. It has
  /// logged which.
  case notOffered
  /// Nobody touched the reader in time.
  case timedOut
  /// No bus, no whorld, or it went away.
  case noDaemon
  /// Whoever owns whorld's name is not to be trusted with the answer.
  case untrustedDaemon
  /// The daemon did not answer in time.
  case silentDaemon
  /// The answer was no answer.
  case garbage

  /// The code that pam_sm_authenticate returns.
  ///
  /// PAM_IGNORE is none of them: after a required line that succeeds it would open the door. Nor is PAM_MAXTRIES,
  /// which tells programs not to ask for the password any more.
  var code: Int32 {
    switch self {
    case .match, .proven: PAM_SUCCESS
    case .noMatch: PAM_AUTH_ERR
    case .unknownUser: PAM_USER_UNKNOWN
    case .conversationFailed: PAM_CONV_ERR
    case .nothingToDo, .remote, .unattended, .passedOver, .notOffered, .timedOut, .noDaemon, .untrustedDaemon,
      .silentDaemon, .garbage:
      PAM_AUTHINFO_UNAVAIL
    }
  }

  /// How the log is told, once and not at each try; nil where there is nothing to tell, or whorld has told it.
  var priority: Int32? {
    switch self {
    case .match, .proven, .nothingToDo, .noMatch, .unknownUser, .passedOver, .notOffered, .timedOut: nil
    case .remote, .unattended: LOG_INFO
    case .conversationFailed, .noDaemon, .silentDaemon: LOG_NOTICE
    case .untrustedDaemon, .garbage: LOG_ERR
    }
  }

  /// The outcome that one of whorld's, or of the bus's, error names stands for.
  init(errorName: CText) {
    if equals(errorName, "org.whorl.Error.AuthenticationFailed") {
      self = .noMatch
    } else if equals(errorName, "org.whorl.Error.NoSuchUser") {
      self = .unknownUser
    } else if equals(errorName, "org.whorl.Error.TimedOut") {
      self = .timedOut
    } else if hasPrefix(errorName, "org.freedesktop.DBus.Error.") {
      self = .noDaemon
    } else {
      self = .notOffered
    }
  }

  /// What the log says.
  var text: StaticString {
    switch self {
    case .match: "a finger matched"
    case .proven: "whorld saw the finger or the password"
    case .nothingToDo: "nothing to unlock"
    case .noMatch: "no finger matched"
    case .unknownUser: "the user is not known to whorld"
    case .conversationFailed: "the program's conversation function failed"
    case .remote: "no finger is asked for: the session is remote"
    case .unattended: "no finger is asked for: there is no terminal to ask on, or the service is left out"
    case .passedOver: "the password was chosen"
    case .notOffered: "no finger is asked for; whorld's log says why"
    case .timedOut: "nobody touched the reader in time"
    case .noDaemon: "no finger is asked for: whorld is not there"
    case .untrustedDaemon: "the owner of org.whorl is neither root nor this user"
    case .silentDaemon: "whorld did not answer in time"
    case .garbage: "whorld's answer makes no sense"
    }
  }
}
