internal import WhorlClient

/// What the enclave's status says of a policy, before anybody is asked for anything.
struct Availability {
  private let status: WhorlStatus

  init(_ status: WhorlStatus) { self.status = status }

  /// A reader that is there is one, whether or not it can be used now.
  var biometryType: LABiometryType { status.readers.isEmpty ? .none : .touchID }

  /// Changes with the fingers that open secrets, and only then; nil where there are none.
  var domainState: Data? { status.biometrySet.isEmpty ? nil : Data(status.biometrySet) }

  /// Why a policy could not be evaluated now; nil where it can.
  func refusal(of policy: LAPolicy) -> NSError? {
    switch policy {
    case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
      biometryRefusal
    case .deviceOwnerAuthentication:
      // Either will do. An account without a password has to be told that, as on Apple's systems.
      biometryRefusal == nil ? nil : passcodeRefusal
    case .deviceOwnerAuthenticationWithCompanion: Self.noCompanion
    }
  }

  /// As ``refusal(of:)``, for a step of an access control.
  func refusal(ofEnclave policy: WhorlPolicy) -> NSError? {
    switch policy {
    case .biometrics: biometryRefusal
    case .owner: refusal(of: .deviceOwnerAuthentication)
    case .passcode: passcodeRefusal
    }
  }

  static var noCompanion: NSError {
    .localAuthentication(.companionNotAvailable, "There are no companion devices on Linux; use another policy")
  }

  private var biometryRefusal: NSError? {
    switch status.biometry {
    case "available": nil
    case "locked-out":
      .localAuthentication(
        .biometryLockout, "Fingers do not count after too many misses; evaluate deviceOwnerAuthentication")
    case "not-enrolled":
      // A lockout stays one without a finger, but that there is none comes first.
      .localAuthentication(
        .biometryNotEnrolled, "No finger is enrolled that may open secrets; enrol one with: whorl enroll")
    case "no-reader", "failed", "not-trusted":
      .localAuthentication(
        .biometryNotAvailable,
        status.biometryError.isEmpty ? "There is no fingerprint reader that can be used" : status.biometryError)
    default:
      .localAuthentication(
        .biometryNotAvailable, "The daemon is of another version than this program; update Whorl")
    }
  }

  private var passcodeRefusal: NSError? {
    guard status.storeError.isEmpty else { return .localAuthentication(.biometryNotAvailable, status.storeError) }
    guard status.passcode == "not-set" else { return nil }
    return .localAuthentication(
      .passcodeNotSet, "No finger can be used for this and the account has no password; set one with passwd")
  }
}
