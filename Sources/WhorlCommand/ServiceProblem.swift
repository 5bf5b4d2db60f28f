/// What the daemon, or the way to it, answered instead of a result.
struct ServiceProblem: Error, Sendable, Equatable {
  /// What it was. Raw values are the last part of the D-Bus error's name, or a word of our own.
  enum Code: String, Sendable, CaseIterable {
    // org.whorl.Error
    case authenticationFailed = "AuthenticationFailed"
    case userCancel = "UserCancel"
    case userFallback = "UserFallback"
    case systemCancel = "SystemCancel"
    case appCancel = "AppCancel"
    case passcodeNotSet = "PasscodeNotSet"
    case passcodeNeeded = "PasscodeNeeded"
    case passcodeDelayed = "PasscodeDelayed"
    case biometryNotAvailable = "BiometryNotAvailable"
    case biometryNotEnrolled = "BiometryNotEnrolled"
    case biometryLockout = "BiometryLockout"
    case invalidContext = "InvalidContext"
    case notInteractive = "NotInteractive"
    case timedOut = "TimedOut"
    case busy = "Busy"
    case denied = "Denied"
    case itemNotFound = "ItemNotFound"
    case itemInvalidated = "ItemInvalidated"
    case duplicateItem = "DuplicateItem"
    case param = "Param"
    case unsupported = "Unsupported"
    case tooLarge = "TooLarge"
    case storeUnavailable = "StoreUnavailable"
    case storeDamaged = "StoreDamaged"
    case storeTooNew = "StoreTooNew"
    case noSuchUser = "NoSuchUser"
    case readerFailed = "ReaderFailed"
    case failed = "Failed"
    // net.reactivated.Fprint.Error
    case permissionDenied = "PermissionDenied"
    case alreadyInUse = "AlreadyInUse"
    case noSuchDevice = "NoSuchDevice"
    case noEnrolledPrints = "NoEnrolledPrints"
    case printsNotDeleted = "PrintsNotDeleted"
    // The bus and this side
    case noDaemon = "no-daemon"
    case disconnected = "disconnected"
    case noAnswer = "no-answer"
    case unreadableAnswer = "unreadable-answer"
    case cancelled = "cancelled"
    case other = "other"
  }

  let code: Code
  /// The daemon's own words; empty where there were none. Not yet escaped.
  let message: String

  init(_ code: Code, _ message: String = "") {
    self.code = code
    self.message = message
  }
}
