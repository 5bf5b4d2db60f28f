/// What became of a request, in the log's words for people.
enum LogWords {
  /// - Parameter outcome: "released", or an error's name without `org.whorl.Error.`; one that is not known stays as it is.
  static func outcome(_ outcome: String) -> String {
    switch outcome {
    case "AuthenticationFailed": "not recognised"
    case "UserCancel", "AppCancel": "cancelled"
    case "UserFallback": "password preferred"
    case "SystemCancel": "ended by the system"
    case "PasscodeNeeded": "password asked for"
    case "FormerPasscodeNeeded": "former password asked for"
    case "PasscodeNotSet": "no password set"
    case "PasscodeDelayed": "paused after wrong passwords"
    case "ApplicationPasswordNeeded": "program's own password asked for"
    case "Locked": "locked"
    case "BiometryNotAvailable": "no reader"
    case "BiometryNotEnrolled": "no finger enrolled"
    case "BiometryLockout": "fingers locked out"
    case "InvalidContext": "request was over"
    case "NotInteractive": "nobody could be asked"
    case "TimedOut": "nobody came"
    case "Busy": "reader in use"
    case "Denied": "not allowed"
    case "ItemNotFound": "not there"
    case "ItemInvalidated": "gone for good"
    case "DuplicateItem": "exists already"
    case "Param", "Unsupported": "not understood"
    case "TooLarge": "too large"
    case "StoreUnavailable": "store unavailable"
    case "StoreDamaged": "store damaged"
    case "StoreTooNew": "store too new"
    case "NoSuchUser": "no such user"
    case "ReaderFailed": "reader failed"
    case "WrongPassphrase": "wrong passphrase"
    case "ArchiveDamaged": "export file damaged"
    case "ArchiveTooNew": "export file too new"
    case "NotArchive": "no export file"
    case "Failed": "failed"
    default: Escaping.shown(outcome, limit: 64)
    }
  }
}
