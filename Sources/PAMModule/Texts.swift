/// Every text that the module shows to people, whole, for a language may put its words in another order. In braces stands
/// what is filled in: {finger} (one of the finger texts), {service}, {count}. pam/po/texts.py reads them here, each on a
/// line of its own; after a change run `make translations`.
enum Text: UInt8, CaseIterable {
  // Prompts in a program's own conversation.
  case touch, touchWith, swipe, swipeWith
  // Prompts on a terminal, which take a password as well and end in a space.
  case touchOrType, touchWithOrType, swipeOrType, swipeWithOrType, waitOrType, type
  case queued
  case retryGeneral, retryTooShort, retryCenterFinger, retryRemoveFinger, retryTooFast
  case noMatch, noMatchOneLeft, noMatchSomeLeft, noMatchTryAgain
  case lockedOut, homeClosed, timedOut, tooLong
  case formerPasswordNeeded
  case leftThumb, leftIndex, leftMiddle, leftRing, leftLittle
  case rightThumb, rightIndex, rightMiddle, rightRing, rightLittle

  /// The text in English; a translation's key.
  var english: StaticString {
    switch self {
    case .touch: "Touch the fingerprint reader ({service})"
    case .touchWith: "Touch the fingerprint reader with your {finger} ({service})"
    case .swipe: "Swipe your finger across the fingerprint reader ({service})"
    case .swipeWith: "Swipe your {finger} across the fingerprint reader ({service})"
    case .touchOrType: "Touch the fingerprint reader or type your password ({service}): "
    case .touchWithOrType: "Touch the fingerprint reader with your {finger} or type your password ({service}): "
    case .swipeOrType: "Swipe your finger across the fingerprint reader or type your password ({service}): "
    case .swipeWithOrType: "Swipe your {finger} across the fingerprint reader or type your password ({service}): "
    case .waitOrType: "Wait for the fingerprint reader, which is not ready yet, or type your password ({service}): "
    case .type: "Type your password ({service}): "
    case .queued: "Waiting for the fingerprint reader ({service})"
    case .retryGeneral: "The touch could not be read: please try again."
    case .retryTooShort: "Too short: please try again, and leave the finger on the reader a little longer."
    case .retryCenterFinger: "Not centred: please put the finger on the middle of the reader."
    case .retryRemoveFinger: "Please lift the finger, then touch the reader again."
    case .retryTooFast: "Too fast: please try again more slowly."
    case .noMatch: "Fingerprint not recognised."
    case .noMatchOneLeft: "Fingerprint not recognised: one try left."
    case .noMatchSomeLeft: "Fingerprint not recognised: {count} tries left."
    case .noMatchTryAgain: "Fingerprint not recognised: please try again."
    case .homeClosed: "Your home is encrypted and opens with your password alone: please use your password."
    case .lockedOut: "Fingerprints are locked after too many misses: please use your password."
    case .timedOut: "No finger was seen in time."
    case .tooLong: "That is too long for a password."
    case .formerPasswordNeeded: "Your Whorl keychain asks for your former password once: whorl unlock"
    case .leftThumb: "left thumb"
    case .leftIndex: "left index finger"
    case .leftMiddle: "left middle finger"
    case .leftRing: "left ring finger"
    case .leftLittle: "left little finger"
    case .rightThumb: "right thumb"
    case .rightIndex: "right index finger"
    case .rightMiddle: "right middle finger"
    case .rightRing: "right ring finger"
    case .rightLittle: "right little finger"
    }
  }
}
