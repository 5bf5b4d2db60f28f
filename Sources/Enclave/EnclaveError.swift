public import Keychain
public import KeychainArchive

/// Why the passcode is wanted rather than a finger.
public enum PasscodeReason: Sendable, Hashable {
  /// The item, or what is asked for, takes the passcode alone.
  case required
  /// The person chose the passcode.
  case chosen
  /// The item is of a protection class that the passcode unlocks.
  case locked
  /// Fingers do not count until the passcode was given.
  case lockedOut
  /// No finger that counts is enrolled.
  case notEnrolled
  /// No reader can be used; says why.
  case noReader(String)
}

/// How a request to the enclave fails. `busName` is its name on the bus, `message` one line for people.
public enum EnclaveError: Error, Sendable, Equatable {
  /// The fingers that were tried, or the passcode, are not the user's.
  case authenticationFailed(String)
  /// The person ended the request.
  case userCancel
  /// The person wants the passcode, which does not count here.
  case userFallback
  /// The system ended the request: the machine goes to sleep, or the daemon ends.
  case systemCancel
  /// The program that asked ended the request, its context or its connection.
  case appCancel
  /// Only the passcode will do, and the user has none.
  case passcodeNotSet
  /// The passcode is to be given to the context (`providePasscode`), then the request made again.
  case passcodeNeeded(PasscodeReason)
  /// The passcode was changed since it last unlocked the keychain: the former one, or the recovery key, is to be given
  /// once (`provideFormerPasscode`, `provideRecoveryKey`).
  case formerPasscodeNeeded
  /// Too many wrong passcodes: none is looked at for so many seconds.
  case passcodeDelayed(seconds: Int)
  /// No reader can be used; says why.
  case biometryNotAvailable(String)
  /// The user has no finger that counts for this request.
  case biometryNotEnrolled(MatchScope)
  /// Too many misses in a row: no finger counts until the passcode was given.
  case biometryLockout
  /// The context is not there, has ended, or belongs to another connection or user (which is not told apart).
  case invalidContext
  /// A prompt would be needed, and the context forbids them.
  case notInteractive
  /// Nobody touched the reader in time.
  case timedOut
  /// Somebody else has what is needed; says who or what.
  case busy(String)
  /// It is not allowed; says what.
  case denied(String)
  /// A value is out of its range; names it.
  case parameter(String)
  /// The keychain refuses, or cannot be had at all (its device key, its disk); names the remedy.
  case keychain(KeychainError)
  /// What an import brings is there already; names it.
  case conflict(String)
  /// The export file, or its passphrase, is not right.
  case archive(ArchiveError)
  /// The reader failed.
  case sensor(String)
  /// Something else went wrong, such as memory running out.
  case failed(String)

  /// The error's name on the bus, such as `org.whorl.Error.UserCancel`.
  public var busName: String { "org.whorl.Error.\(name)" }

  private var name: String {
    switch self {
    case .authenticationFailed: "AuthenticationFailed"
    case .userCancel: "UserCancel"
    case .userFallback: "UserFallback"
    case .systemCancel: "SystemCancel"
    case .appCancel: "AppCancel"
    case .passcodeNotSet: "PasscodeNotSet"
    case .passcodeNeeded: "PasscodeNeeded"
    case .formerPasscodeNeeded: "FormerPasscodeNeeded"
    case .passcodeDelayed: "PasscodeDelayed"
    case .biometryNotAvailable: "BiometryNotAvailable"
    case .biometryNotEnrolled: "BiometryNotEnrolled"
    case .biometryLockout: "BiometryLockout"
    case .invalidContext: "InvalidContext"
    case .notInteractive: "NotInteractive"
    case .timedOut: "TimedOut"
    case .busy: "Busy"
    case .denied: "Denied"
    case .parameter: "Param"
    case .keychain(let error): Self.name(of: error)
    case .conflict: "DuplicateItem"
    case .archive(let error): Self.name(of: error)
    case .sensor: "ReaderFailed"
    case .failed: "Failed"
    }
  }

  /// One line for people: what happened, to which thing, what to do next.
  public var message: String {
    switch self {
    case .authenticationFailed(let what): what
    case .userCancel: "you cancelled the request"
    case .userFallback: "only a finger counts here, not the password; ask again and touch the reader"
    case .systemCancel: "the system ended the request (sleep or shutdown); ask again"
    case .appCancel: "the program that asked ended the request"
    case .passcodeNotSet:
      "this needs your login password and your account has none; set one with passwd, then ask again"
    case .passcodeNeeded(let reason): Self.message(of: reason)
    case .formerPasscodeNeeded:
      "your login password was changed since it last opened the keychain; give the former one, or the recovery key, once "
        + "with: whorl unlock"
    case .passcodeDelayed(let seconds):
      "too many wrong passwords, none is looked at now; try again in \(seconds) second\(seconds == 1 ? "" : "s")"
    case .biometryNotAvailable(let why): why
    case .biometryNotEnrolled(.login): "no finger is enrolled; enrol one with: whorl enroll"
    case .biometryNotEnrolled(.secret):
      "no finger is enrolled that may open secrets; enrol one with: whorl enroll"
    case .biometryLockout:
      "fingers do not count after \(LockoutPolicy.allowedMisses) misses in a row; give your login password once with: whorl verify"
    case .invalidContext: "there is no such authentication context for this program; create a new one"
    case .notInteractive: "this needs a finger or the password and the program asked not to prompt; allow prompts"
    case .timedOut: "nobody touched the fingerprint reader in time; ask again"
    case .busy(let what): what
    case .denied(let what): what
    case .parameter(let what): what
    case .keychain(let error): error.description
    case .conflict(let what): what
    case .archive(let error): error.description
    case .sensor(let why): why
    case .failed(let why): why
    }
  }

  private static func message(of reason: PasscodeReason) -> String {
    switch reason {
    case .locked: "this is locked since the last login or start; give your login password once"
    case .required: "this needs your login password"
    case .chosen: "you chose to give your login password instead of a finger"
    case .lockedOut:
      "fingers do not count after \(LockoutPolicy.allowedMisses) misses in a row; give your login password"
    case .notEnrolled: "no finger is enrolled that may open secrets; give your login password"
    case .noReader(let why): "\(why), or give your login password"
    }
  }

  private static func name(of error: ArchiveError) -> String {
    switch error {
    case .notAnExportFile: "NotArchive"
    case .tooNew: "ArchiveTooNew"
    case .refusedCost, .truncated, .altered: "ArchiveDamaged"
    case .wrongPassphrase: "WrongPassphrase"
    case .tooLarge: "TooLarge"
    case .badPassphrase: "Param"
    case .io, .memory: "Failed"
    }
  }

  private static func name(of error: KeychainError) -> String {
    switch error {
    case .duplicateItem: "DuplicateItem"
    case .itemNotFound: "ItemNotFound"
    case .invalidated, .passcodeRemoved: "ItemInvalidated"
    case .locked: "Locked"
    case .applicationPasswordNeeded: "ApplicationPasswordNeeded"
    case .wrongApplicationPassword: "AuthenticationFailed"
    case .tampered, .corrupt: "StoreDamaged"
    case .tooNew: "StoreTooNew"
    case .unsupported: "Unsupported"
    case .invalidParameter: "Param"
    case .tooLarge, .overQuota: "TooLarge"
    case .refusedFile, .readOnly, .diskFull, .busy, .io, .deviceKey, .deviceKeyUnavailable, .otherOwner, .ownerUnknown:
      "StoreUnavailable"
    case .memory: "Failed"
    }
  }
}
