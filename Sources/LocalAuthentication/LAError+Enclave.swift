package import WhorlClient

extension LAError.Code {
  /// What the program that uses LAContext is told, for what the enclave or the way there said.
  ///
  /// | The enclave says | The program is told |
  /// | --- | --- |
  /// | no touch, or no password, was right; nobody touched in time; passwords have to wait; not allowed | ``LAError/Code/authenticationFailed`` |
  /// | the person declined | ``LAError/Code/userCancel`` |
  /// | the person wants the password where only fingers count | ``LAError/Code/userFallback`` |
  /// | sleep, the daemon's end, also in mid-request; others have the reader | ``LAError/Code/systemCancel`` |
  /// | the account has no password | ``LAError/Code/passcodeNotSet`` |
  /// | no reader, one that failed or is not trusted; no daemon or no answer of it; no store | ``LAError/Code/biometryNotAvailable`` |
  /// | no finger that opens secrets | ``LAError/Code/biometryNotEnrolled`` |
  /// | too many misses | ``LAError/Code/biometryLockout`` |
  /// | the program ended it: the task was cancelled or the context invalidated | ``LAError/Code/appCancel`` |
  /// | the context was invalidated before | ``LAError/Code/invalidContext`` |
  /// | prompts are forbidden, or nobody can be asked for the password | ``LAError/Code/notInteractive`` |
  package init(_ code: WhorlError.Code) {
    switch code {
    case .authenticationFailed, .passcodeDelayed, .timedOut, .denied, .wrongPassphrase: self = .authenticationFailed
    case .userCancel: self = .userCancel
    case .userFallback: self = .userFallback
    case .systemCancel, .busy, .disconnected: self = .systemCancel
    case .passcodeNotSet: self = .passcodeNotSet
    case .biometryNotEnrolled: self = .biometryNotEnrolled
    case .biometryLockout: self = .biometryLockout
    case .appCancel, .cancelled: self = .appCancel
    case .invalidContext: self = .invalidContext
    case .notInteractive, .passcodeNeeded, .formerPasscodeNeeded, .locked, .applicationPasswordNeeded:
      self = .notInteractive
    case .biometryNotAvailable, .readerFailed, .noDaemon, .impostor, .otherDaemon, .badAnswer, .noAnswer,
      .storeUnavailable, .storeDamaged, .storeTooNew, .noSuchUser, .secretMemory, .failed, .unsupported, .unknown,
      .itemNotFound, .itemInvalidated, .duplicateItem, .param, .tooLarge, .archiveDamaged, .archiveTooNew, .notArchive,
      .fprint:
      self = .biometryNotAvailable
    }
  }
}

extension NSError {
  /// What is thrown for that: an `NSError`, which is caught as one and as LAError.
  package static func localAuthentication(_ error: WhorlError) -> NSError {
    localAuthentication(LAError.Code(error.code), error.message, because: error)
  }

  /// An error of ``LAErrorDomain``.
  /// - Parameter text: one line for people.
  package static func localAuthentication(
    _ code: LAError.Code, _ text: String, because error: WhorlError? = nil
  ) -> NSError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: sentence(text)]
    if let error { userInfo[NSUnderlyingErrorKey] = error as any Error }
    return NSError(domain: LAErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// The daemon's lines begin with a small letter and end without a full stop.
  private static func sentence(_ text: String) -> String {
    guard let first = text.first else { return text }
    let line = first.uppercased() + text.dropFirst()
    return line.last?.isPunctuation == true ? line : line + "."
  }
}
