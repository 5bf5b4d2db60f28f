internal import Bus

/// A question for the passcode, which the enclave has the program ask.
///
/// All texts but the program's own were bounded and freed of control characters by the enclave.
public struct EmbeddedRequest: Hashable, Sendable {
  /// What is to be typed.
  public enum Wanted: Hashable, Sendable {
    /// The login password.
    case passcode
    /// The login password from before it was changed, or the recovery key.
    case formerPasscode
  }

  /// What it is for.
  public enum Deed: Hashable, Sendable {
    /// To read an item.
    case read
    /// To change one.
    case change
    /// To use a key.
    case useKey
    /// To be authenticated, for what the program does next.
    case authenticate
    /// To have fingers open secrets.
    case adoptFingers
    /// Something of the command `whorl`'s, by the name that org.whorl.Agent1 has for it.
    case other(String)
  }

  /// What is to be typed.
  public let wanted: Wanted
  /// What it is for.
  public let deed: Deed
  /// What the program says that it is for: `kSecUseOperationPrompt`, or a context's `localizedReason`.
  public let reason: String?
  /// The item's name.
  public let item: String?
  /// The fingers that are to open secrets, such as right-index-finger.
  public let fingers: [String]
  /// Why a finger does not do.
  public let why: String?
  /// Why it is asked once more, after a wrong one.
  public let error: String?
  /// How many more may be given after this one.
  public let triesLeft: Int?

  init(_ details: [String: BusValue]) {
    func text(_ key: String) -> String? { details[key]?.asString.flatMap { $0.isEmpty ? nil : $0 } }
    wanted = text("wants") == "former-passcode" ? .formerPasscode : .passcode
    deed =
      switch text("deed") {
      case "read": .read
      case "change": .change
      case "use-key": .useKey
      case "authenticate": .authenticate
      case "adopt-fingers": .adoptFingers
      case let name: .other(name ?? "")
      }
    reason = text("reason")
    item = text("item")
    fingers = details["fingers"]?.asStrings ?? []
    why = text("why")
    error = text("error")
    triesLeft = details["tries-left"]?.asUInt32.map(Int.init)
  }
}

/// What happens in an enrolment.
public enum EnrollmentStep: Hashable, Sendable {
  /// The reader waits for the first of so many touches; nil where it does not say how many.
  case ready(touches: Int?)
  /// A touch was good; the next one is waited for.
  case touched
  /// A touch was not good and is to be repeated; why, in fprintd's words, such as enroll-swipe-too-short.
  case again(String)
  /// All touches were taken. What follows is the passcode.
  case scanned

  init?(word: String) {
    switch word {
    case "enroll-stage-passed": self = .touched
    case "enroll-completed": self = .scanned
    case "enroll-retry-scan", "enroll-swipe-too-short", "enroll-too-fast", "enroll-finger-not-centered",
      "enroll-remove-and-retry":
      self = .again(word)
    // The others are errors, which the call throws.
    default: return nil
    }
  }
}
