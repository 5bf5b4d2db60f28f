import GLibLoop
import WhorlClient

/// A store that cannot be used, or is of another account: one code and one text, whichever command meets it.
extension Commands {
  /// Whose command this is, by name.
  var callerName: String {
    surroundings.accounts.name(of: surroundings.effectiveUser) ?? "uid \(surroundings.effectiveUser)"
  }

  /// Why a user's store cannot be used; nil where it can, or where that is not told.
  func storeTrouble(of user: TargetUser) async -> CommandFailure? {
    let (former, error): (String?, String)
    if user.isCaller {
      guard let status = try? await service.status() else { return nil }
      (former, error) = (status.formerName, status.storeError)
    } else {
      guard let status = await account(of: user) else { return nil }
      (former, error) = (status.formerName, status.storeError)
    }
    guard !error.isEmpty else { return nil }
    let subject = "fingers of \(user.shown)"
    if let former { return Self.ofFormer(former, subject, now: user.name) }
    return CommandFailure(.storeUnavailable, "\(subject): \(Escaping.clause(error))")
  }

  /// That what is kept for the account is under a name that its uid had before.
  static func ofFormer(_ former: String, _ subject: String, now user: String) -> CommandFailure {
    CommandFailure(
      .storeUnavailable,
      "\(subject): what is kept for this uid is under the name \(Escaping.quoted(former)) that it had; "
        + Hints.former(former, now: user))
  }

  /// The failure for a problem with the caller's secrets, with what only the status knows.
  func secretFailure(_ problem: WhorlError, _ subject: String) async -> CommandFailure {
    if Task.isCancelled { return .cancelled }
    switch problem.code {
    case .storeUnavailable:
      if let former = (try? await service.status())?.formerName {
        return Self.ofFormer(former, subject, now: callerName)
      }
    case .biometryNotEnrolled:
      if let finger = (try? await service.status())?.unregistered.first {
        return CommandFailure(
          .noFingers, "\(subject): no finger is enrolled that may open secrets; \(Self.adoptIt(finger))")
      }
    default: break
    }
    return failure(problem, subject)
  }

  /// What to do with a finger for which nobody gave the password.
  static func adoptIt(_ finger: String) -> String {
    "\(Escaping.shown(finger, limit: 64)) is, for logins; let it open secrets, with your password: whorl adopt"
  }
}
