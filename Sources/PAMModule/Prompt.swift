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
  var text: StaticString {
    switch self {
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

  var text: StaticString {
    switch self {
    case .general: "The touch could not be read: please try again."
    case .tooShort: "Too short: please try again, and leave the finger on the reader a little longer."
    case .centerFinger: "Not centred: please put the finger on the middle of the reader."
    case .removeFinger: "Please lift the finger, then touch the reader again."
    case .tooFast: "Too fast: please try again more slowly."
    }
  }
}

/// What the module tells the person, always as PAM_TEXT_INFO: programs take error messages for the end. All words
/// are the module's own, so that nothing on the bus can write to a terminal.
enum Prompt: Equatable {
  /// The reader serves someone else first.
  case queued
  /// The reader awaits a touch, of that finger where the user has enrolled just one.
  case touch(swipe: Bool, finger: FingerName?)
  case retry(RetryReason)
  /// Another finger; nil where whorld did not say how many tries are left.
  case noMatch(triesLeft: UInt32?)
  case lockedOut
  case timedOut

  /// Writes the prompt; `service` names what the touch is for.
  func write(to line: inout TextLine, service: CText) {
    switch self {
    case .queued:
      line.append("Waiting for the fingerprint reader")
      name(service, in: &line)
    case .touch(let swipe, let finger):
      if let finger {
        line.append(swipe ? "Swipe your " : "Touch the fingerprint reader with your ")
        line.append(finger.text)
        if swipe { line.append(" across the fingerprint reader") }
      } else {
        line.append(swipe ? "Swipe your finger across the fingerprint reader" : "Touch the fingerprint reader")
      }
      name(service, in: &line)
    case .retry(let reason):
      line.append(reason.text)
    case .noMatch(let triesLeft):
      line.append("Fingerprint not recognised")
      switch triesLeft {
      case 0: line.append(".")
      case 1: line.append(": one try left.")
      case .some(let count) where count <= 5:
        line.append(": ")
        line.append(count)
        line.append(" tries left.")
      default: line.append(": please try again.")
      }
    case .lockedOut:
      line.append("Fingerprints are locked after too many misses: please use your password.")
    case .timedOut:
      line.append("No finger was seen in time.")
    }
  }

  private func name(_ service: CText, in line: inout TextLine) {
    line.append(" (")
    line.append(printable: service)
    line.append(")")
  }
}
