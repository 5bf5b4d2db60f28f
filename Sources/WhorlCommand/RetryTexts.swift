/// What to do about a scan that did not work, in plain words.
enum RetryTexts {
  /// For the reasons of Whorl's Progress signal and for fprintd's `enroll-…` and `verify-…` words; nil for any other.
  static func hint(for word: String, _ scanType: String) -> String? {
    let swipes = scanType == "swipe"
    return switch word {
    case "general", "enroll-retry-scan", "verify-retry-scan":
      "That did not work; \(again(scanType))."
    case "too-short", "enroll-swipe-too-short", "verify-swipe-too-short":
      "Too short; swipe the whole finger over the reader."
    case "center-finger", "enroll-finger-not-centered", "verify-finger-not-centered":
      swipes
        ? "Off the middle; swipe along the middle of the reader." : "Off the middle; touch the middle of the reader."
    case "remove-finger", "enroll-remove-and-retry", "verify-remove-and-retry":
      swipes ? "Lift the finger, then swipe again." : "Lift the finger, then touch again."
    case "too-fast", "enroll-swipe-too-fast", "verify-swipe-too-fast":
      "Too fast; swipe more slowly."
    default: nil
    }
  }

  /// What to do for the next touch.
  static func again(_ scanType: String) -> String {
    scanType == "swipe" ? "swipe the finger again" : "lift the finger and touch again"
  }

  /// How to present a finger to a reader of that scan type.
  static func touch(_ scanType: String) -> String {
    scanType == "swipe" ? "Swipe your finger over the reader" : "Touch the reader"
  }
}
