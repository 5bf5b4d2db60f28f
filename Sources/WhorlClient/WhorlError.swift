/// Why a request to the daemon, or the way to it, failed.
public struct WhorlError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What it was.
  public let code: Code
  /// One line for people: the daemon's own words or ours. Free of control characters, at most 500 characters.
  public let message: String

  /// An error of this kind; control characters in the message become spaces.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = printable(message)
  }

  /// The message.
  public var description: String { message }

  /// The kinds of errors.
  public enum Code: Hashable, Sendable {
    // org.whorl.Error: what the daemon decided.
    /// No finger or passcode matched in the tries allowed.
    case authenticationFailed
    /// The user declined.
    case userCancel
    /// The user asked for the passcode instead.
    case userFallback
    /// The system ended it: sleep, or the end of the daemon.
    case systemCancel
    /// The program itself ended it, or its context.
    case appCancel
    /// The account has no passcode.
    case passcodeNotSet
    /// The passcode is what is needed now: provide it to the context, then ask again.
    case passcodeNeeded
    /// The passcode was changed since it last opened the keychain: the former one, or the recovery key, is needed once.
    case formerPasscodeNeeded
    /// The item's protection class is locked: its sessions are, or the passcode was not given yet.
    case locked
    /// The item has a password of a program's own: provide it to the context.
    case applicationPasswordNeeded
    /// Too many wrong passcodes: wait, as WhorlStatus.passcodeDelay says.
    case passcodeDelayed
    /// No reader that can be used.
    case biometryNotAvailable
    /// No finger that counts for this.
    case biometryNotEnrolled
    /// Too many misses: the passcode ends it.
    case biometryLockout
    /// The context has ended, or never was this connection's.
    case invalidContext
    /// The context forbids prompts, and one was needed.
    case notInteractive
    /// No touch in time.
    case timedOut
    /// The reader or the daemon is busy with others.
    case busy
    /// The caller may not do this.
    case denied
    /// Nothing matches the query.
    case itemNotFound
    /// The item is gone for good, since the enrolled fingers changed.
    case itemInvalidated
    /// There is such an item already.
    case duplicateItem
    /// An argument is wrong; the message names it.
    case param
    /// This version does not do that.
    case unsupported
    /// A value is too large.
    case tooLarge
    /// The keychain cannot be opened now.
    case storeUnavailable
    /// The keychain is damaged or was tampered with.
    case storeDamaged
    /// The keychain was written by a newer version.
    case storeTooNew
    /// There is no such account.
    case noSuchUser
    /// The reader failed.
    case readerFailed
    /// The daemon failed; its log says why.
    case failed
    /// An error of net.reactivated.Fprint.
    case fprint(FprintErrorName)

    // The way there.
    /// Nobody answers for the daemon and the bus cannot start it, or there is no bus.
    case noDaemon
    /// The daemon or the bus went away in mid-request. What was asked may have been done or not.
    case disconnected
    /// The name belongs to a program of neither root nor this user. Nothing was sent to it.
    case impostor
    /// Another daemon, such as fprintd, has the name net.reactivated.Fprint in place of whorld.
    case otherDaemon
    /// The daemon answered something that its interface does not promise.
    case badAnswer
    /// The daemon did not answer a request that needs no user in time.
    case noAnswer
    /// The task was cancelled.
    case cancelled
    /// Guarded memory for a secret, or the file that carries it, could not be had.
    case secretMemory
    /// A D-Bus error of this name, which this version does not know.
    case unknown(String)
  }
}

/// The errors that the interface net.reactivated.Fprint defines, by the last part of their names.
public enum FprintErrorName: String, Hashable, Sendable, CaseIterable {
  /// The reader was not claimed.
  case claimDevice = "ClaimDevice"
  /// Somebody else claimed the reader, or it is in use.
  case alreadyInUse = "AlreadyInUse"
  /// The daemon or the reader failed.
  case internalError = "Internal"
  /// polkit said no.
  case permissionDenied = "PermissionDenied"
  /// The user has no enrolled finger.
  case noEnrolledPrints = "NoEnrolledPrints"
  /// Nothing to stop.
  case noActionInProgress = "NoActionInProgress"
  /// There is no such finger.
  case invalidFingerName = "InvalidFingername"
  /// There is no reader.
  case noSuchDevice = "NoSuchDevice"
  /// Deleting failed on the disk.
  case printsNotDeleted = "PrintsNotDeleted"
  /// Deleting failed in the reader's own storage.
  case printsNotDeletedFromDevice = "PrintsNotDeletedFromDevice"
}

extension WhorlError.Code {
  /// The code of a D-Bus error name that the daemon sent.
  init(busName: String) {
    if busName.hasPrefix("org.whorl.Error."), let code = Self.whorl[String(busName.dropFirst(16))] {
      self = code
    } else if busName.hasPrefix("net.reactivated.Fprint.Error."),
      let name = FprintErrorName(rawValue: String(busName.dropFirst(29)))
    {
      self = .fprint(name)
    } else {
      self = .unknown(printable(busName))
    }
  }

  private static let whorl: [String: Self] = [
    "AuthenticationFailed": .authenticationFailed, "UserCancel": .userCancel, "UserFallback": .userFallback,
    "SystemCancel": .systemCancel, "AppCancel": .appCancel, "PasscodeNotSet": .passcodeNotSet,
    "PasscodeNeeded": .passcodeNeeded, "PasscodeDelayed": .passcodeDelayed,
    "BiometryNotAvailable": .biometryNotAvailable, "BiometryNotEnrolled": .biometryNotEnrolled,
    "BiometryLockout": .biometryLockout, "InvalidContext": .invalidContext, "NotInteractive": .notInteractive,
    "TimedOut": .timedOut, "Busy": .busy, "Denied": .denied, "ItemNotFound": .itemNotFound,
    "ItemInvalidated": .itemInvalidated, "DuplicateItem": .duplicateItem, "Param": .param,
    "FormerPasscodeNeeded": .formerPasscodeNeeded, "Locked": .locked,
    "ApplicationPasswordNeeded": .applicationPasswordNeeded, "Unsupported": .unsupported, "TooLarge": .tooLarge,
    "StoreUnavailable": .storeUnavailable,
    "StoreDamaged": .storeDamaged, "StoreTooNew": .storeTooNew, "NoSuchUser": .noSuchUser,
    "ReaderFailed": .readerFailed, "Failed": .failed,
  ]
}

/// The text on one line and fit for a terminal: no control or bidirectional formatting characters, at most 500
/// characters.
func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars.prefix(500) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: result.append(" ")
    default: result.append(scalar)
    }
  }
  return String(result)
}
