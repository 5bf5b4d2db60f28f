/// One of the ten fingers, by the names that whorld uses.
enum FingerName: UInt8, CaseIterable {
  case leftThumb, leftIndex, leftMiddle, leftRing, leftLittle
  case rightThumb, rightIndex, rightMiddle, rightRing, rightLittle

  /// The name on the bus.
  var name: StaticString {
    switch self {
    case .leftThumb: "left-thumb"
    case .leftIndex: "left-index-finger"
    case .leftMiddle: "left-middle-finger"
    case .leftRing: "left-ring-finger"
    case .leftLittle: "left-little-finger"
    case .rightThumb: "right-thumb"
    case .rightIndex: "right-index-finger"
    case .rightMiddle: "right-middle-finger"
    case .rightRing: "right-ring-finger"
    case .rightLittle: "right-little-finger"
    }
  }

  /// The name as people say it.
  var text: Text {
    switch self {
    case .leftThumb: .leftThumb
    case .leftIndex: .leftIndex
    case .leftMiddle: .leftMiddle
    case .leftRing: .leftRing
    case .leftLittle: .leftLittle
    case .rightThumb: .rightThumb
    case .rightIndex: .rightIndex
    case .rightMiddle: .rightMiddle
    case .rightRing: .rightRing
    case .rightLittle: .rightLittle
    }
  }

  init?(name: CText) {
    var raw: UInt8 = 0
    while let finger = FingerName(rawValue: raw) {
      if equals(name, finger.name) {
        self = finger
        return
      }
      raw += 1
    }
    return nil
  }
}

/// Why a touch could not be judged.
enum RetryReason: CaseIterable {
  case general, tooShort, centerFinger, removeFinger, tooFast

  /// The reason of that name; one that is not known asks for another touch in general.
  init(name: CText) {
    if equals(name, "too-short") {
      self = .tooShort
    } else if equals(name, "center-finger") {
      self = .centerFinger
    } else if equals(name, "remove-finger") {
      self = .removeFinger
    } else if equals(name, "too-fast") {
      self = .tooFast
    } else {
      self = .general
    }
  }

  var text: Text {
    switch self {
    case .general: .retryGeneral
    case .tooShort: .retryTooShort
    case .centerFinger: .retryCenterFinger
    case .removeFinger: .retryRemoveFinger
    case .tooFast: .retryTooFast
    }
  }
}

/// What the module tells the person. In a program's conversation always as PAM_TEXT_INFO: programs take error messages
/// for the end. All words are the module's own, so that nothing on the bus can write to a terminal.
enum Prompt: Equatable {
  /// The reader serves someone else first.
  case queued
  /// The reader awaits a touch, of that finger where the user has enrolled just one.
  case touch(swipe: Bool, finger: FingerName?)
  /// Nothing but a password is awaited; on a terminal alone.
  case type
  case retry(RetryReason)
  /// Another finger; nil where whorld did not say how many tries are left.
  case noMatch(triesLeft: UInt32?)
  case lockedOut
  /// The home is encrypted and closed, so that a finger would let nobody into it.
  case homeClosed
  case timedOut
  /// What was typed can be nobody's password.
  case tooLong

  /// Whether it asks for something, and stands until it is given; anything else is said once.
  var isQuestion: Bool {
    switch self {
    case .queued, .touch, .type: true
    default: false
    }
  }

  /// Whether no touch is awaited after it.
  var isLast: Bool { self == .noMatch(triesLeft: 0) || self == .lockedOut || self == .homeClosed || self == .timedOut }

  /// Writes the prompt; `service` names what the touch is for. `takesPassword`: as the question that stands on a terminal,
  /// which a password answers as well.
  func write(to line: inout TextLine, service: CText, in words: Words = .english, takesPassword: Bool = false) {
    switch self {
    case .touch(let swipe, let finger?):
      let text: Text =
        takesPassword ? (swipe ? .swipeWithOrType : .touchWithOrType) : (swipe ? .swipeWith : .touchWith)
      text.write(to: &line, in: words, service: service, finger: finger.text)
    case .touch(let swipe, nil):
      let text: Text = takesPassword ? (swipe ? .swipeOrType : .touchOrType) : (swipe ? .swipe : .touch)
      text.write(to: &line, in: words, service: service)
    case .queued: (takesPassword ? Text.waitOrType : .queued).write(to: &line, in: words, service: service)
    case .type: Text.type.write(to: &line, in: words, service: service)
    case .retry(let reason): reason.text.write(to: &line, in: words)
    case .noMatch(0): Text.noMatch.write(to: &line, in: words)
    case .noMatch(1): Text.noMatchOneLeft.write(to: &line, in: words)
    case .noMatch(let count?) where count <= 5: Text.noMatchSomeLeft.write(to: &line, in: words, count: count)
    case .noMatch: Text.noMatchTryAgain.write(to: &line, in: words)
    case .lockedOut: Text.lockedOut.write(to: &line, in: words)
    case .homeClosed: Text.homeClosed.write(to: &line, in: words)
    case .timedOut: Text.timedOut.write(to: &line, in: words)
    case .tooLong: Text.tooLong.write(to: &line, in: words)
    }
  }
}
