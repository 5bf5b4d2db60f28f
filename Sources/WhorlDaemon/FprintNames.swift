internal import Bus
internal import ReaderLink

/// The names that `net.reactivated.Fprint` uses (Debian package fprintd-doc).
enum FprintNames {
  static let bus = "net.reactivated.Fprint"
  static let managerPath = "/net/reactivated/Fprint/Manager"
  static let managerInterface = "net.reactivated.Fprint.Manager"
  static let deviceInterface = "net.reactivated.Fprint.Device"

  static func devicePath(_ number: Int) -> String { "/net/reactivated/Fprint/Device/\(number)" }

  /// The polkit actions, under fprintd's names so that existing rules apply.
  enum Action {
    static let verify = "net.reactivated.fprint.device.verify"
    static let enroll = "net.reactivated.fprint.device.enroll"
    static let setUserName = "net.reactivated.fprint.device.setusername"
  }

  /// The status for a touch that has to be repeated, after "verify-" or "enroll-".
  static func status(_ reason: RetryReason) -> String {
    switch reason {
    // fprintd has no word for too fast before libfprint 1.94.6.
    case .general, .tooFast: "retry-scan"
    case .tooShort: "swipe-too-short"
    case .centerFinger: "finger-not-centered"
    case .removeFinger: "remove-and-retry"
    }
  }

  /// The last status of a verification that failed, after "verify-".
  static func verifyStatus(_ error: ReaderError) -> String {
    switch error {
    // fprintd says so of every fault after which the reader is of no use for now.
    case .removed, .noSuchReader, .protocolError, .tooHot: "disconnected"
    default: "unknown-error"
    }
  }

  /// The last status of an enrolment that failed, after "enroll-".
  static func enrollStatus(_ error: ReaderError) -> String {
    switch error {
    case .dataFull: "data-full"
    case .dataDuplicate: "duplicate"
    default: verifyStatus(error)
    }
  }
}

extension BusMethodError {
  /// An error of the Fprint interface: `kind` is the last part of its name.
  static func fprint(_ kind: FprintErrorKind, _ message: String) -> BusMethodError {
    BusMethodError(name: "net.reactivated.Fprint.Error." + kind.rawValue, message: message)
  }
}

/// The errors that the Fprint interface defines.
enum FprintErrorKind: String {
  case claimDevice = "ClaimDevice"
  case alreadyInUse = "AlreadyInUse"
  case internalError = "Internal"
  case permissionDenied = "PermissionDenied"
  case noEnrolledPrints = "NoEnrolledPrints"
  case noActionInProgress = "NoActionInProgress"
  case invalidFingerName = "InvalidFingername"
  case noSuchDevice = "NoSuchDevice"
  case printsNotDeleted = "PrintsNotDeleted"
  case printsNotDeletedFromDevice = "PrintsNotDeletedFromDevice"
}
