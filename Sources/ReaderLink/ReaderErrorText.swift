extension ReaderError {
  /// The machine sleeps, or is about to.
  public static let asleep = ReaderError.busy("the machine is about to sleep")

  /// Another reader appeared while this one was used in the same process: what came of it does not count.
  public static let moved = ReaderError.bridgeFailed("another reader appeared")

  /// One line for people: what happened and what to do next.
  public var line: String {
    switch self {
    case .moved: "Another fingerprint reader appeared meanwhile, so what this one said does not count; try again."
    case .asleep: "The machine is about to sleep; try again after it woke."
    case .general(let text):
      "The fingerprint reader's driver reports a failure (\(text)); try again, or unplug the reader or restart."
    case .notSupported(let text): "The fingerprint reader cannot do that (\(text))."
    case .notOpen: "The fingerprint reader is not open; try again."
    case .alreadyOpen: "The fingerprint reader is open already."
    case .busy: "The fingerprint reader is busy; try again in a moment."
    case .heldElsewhere:
      "Another program holds the fingerprint reader; end it (is fprintd running?) and try again."
    case .protocolError(let text):
      "The fingerprint reader gave an answer that its driver does not understand (\(text)); try again."
    case .dataInvalid: "The print does not belong to this reader or is damaged; enrol the finger again."
    case .dataNotFound: "The reader's chip does not know this print any more; enrol the finger again."
    case .dataFull: "The reader's chip is full; delete a finger first."
    case .dataDuplicate: "The reader's chip knows this finger already; enrol another one or delete it first."
    case .removed: "The fingerprint reader is gone; plug it in again, or restart the machine where it is built in."
    case .tooHot(let text): "The fingerprint reader is too hot (\(text)); try again when it has cooled down."
    case .unknown(let code, let text): "The fingerprint reader failed with code \(code) (\(text)); try again."
    case .retry(let reason): reason.line
    case .cancelled: "The request was cancelled."
    case .permissionDenied:
      "The system does not let Whorl open the fingerprint reader; see the permissions of its device (udev rules)."
    case .noSuchReader: "The fingerprint reader is gone; plug it in again, or restart the machine where it is built in."
    case .bridgeUnable(let text): "The fingerprint readers cannot be used: \(text)."
    case .bridgeFailed(let text): "The fingerprint reader's driver stopped (\(text)) and was started afresh; try again."
    case .bridgeKeepsFailing(let text):
      "The fingerprint reader's driver keeps failing (\(text)); unplug the reader or restart, or see whorld's log."
    }
  }
}

extension RetryReason {
  /// One line for people: what to do with the finger.
  public var line: String {
    switch self {
    case .general: "The touch could not be read; touch the reader again."
    case .tooShort: "The swipe was too short; swipe again."
    case .centerFinger: "The finger was not in the middle of the reader; touch it again."
    case .removeFinger: "Lift the finger and touch the reader again."
    case .tooFast: "The swipe was too fast; swipe again."
    }
  }
}
