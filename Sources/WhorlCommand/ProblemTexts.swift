extension ServiceProblem {
  /// The exit code that stands for it.
  var exitCode: ExitCode {
    switch code {
    case .authenticationFailed: .authenticationFailed
    case .userCancel, .userFallback, .systemCancel, .appCancel, .cancelled: .cancelled
    case .biometryLockout, .passcodeDelayed: .lockedOut
    case .biometryNotAvailable, .noSuchDevice: .noReader
    case .biometryNotEnrolled, .noEnrolledPrints: .noFingers
    case .itemNotFound, .noSuchUser: .notFound
    case .itemInvalidated: .gone
    case .denied, .permissionDenied: .notAllowed
    case .storeUnavailable, .storeDamaged, .storeTooNew: .storeUnavailable
    case .notInteractive, .passcodeNeeded: .noTerminal
    case .busy, .alreadyInUse: .busy
    case .timedOut: .timedOut
    case .noDaemon, .disconnected: .noDaemon
    case .passcodeNotSet, .invalidContext, .duplicateItem, .param, .unsupported, .tooLarge, .readerFailed, .failed,
      .printsNotDeleted, .noAnswer, .unreadableAnswer, .other:
      .failed
    }
  }

  /// One line for people. `subject` is what the command was about: a quoted name, a finger in words.
  func sentence(about subject: String) -> String {
    let detail = Escaping.line(message, limit: 400)
    switch code {
    // The daemon's sentence names the thing and the remedy already; ours stands in where it sent none.
    case .permissionDenied, .alreadyInUse, .noSuchDevice, .noEnrolledPrints, .noDaemon, .disconnected, .noAnswer,
      .unreadableAnswer, .cancelled, .printsNotDeleted, .other:
      return "\(subject): \(ownSentence)\(detail.isEmpty ? "" : " (\(detail))")"
    default:
      return "\(subject): \(detail.isEmpty ? ownSentence : detail)"
    }
  }

  /// The command's failure for it.
  func failure(about subject: String) -> CommandFailure {
    CommandFailure(exitCode, sentence(about: subject))
  }

  private var ownSentence: String {
    switch code {
    case .authenticationFailed: "not recognised; try again, or with another enrolled finger"
    case .userCancel, .userFallback, .appCancel, .cancelled: "cancelled; nothing was changed"
    case .systemCancel: "the system ended the request (sleep, or the daemon stopped); try again"
    case .passcodeNotSet: "your account has no password, so that it cannot stand in for a finger; set one with passwd"
    case .passcodeNeeded: "the passcode is needed; run the command on a terminal"
    case .passcodeDelayed: "too many wrong passcodes; wait a little and try again"
    case .biometryNotAvailable: "no fingerprint reader can be used; whorl status says why"
    case .biometryNotEnrolled, .noEnrolledPrints: "no finger is enrolled; enrol one with: whorl enroll"
    case .biometryLockout:
      "fingers are locked out after too many misses; giving your passcode once, in whorl get, ends that"
    case .invalidContext: "the request has ended; run the command again"
    case .notInteractive: "the finger or the passcode is needed; run the command on a terminal"
    case .timedOut: "nobody touched the reader in time; run the command again"
    case .busy, .alreadyInUse: "the reader is in use by another program; close that one and try again"
    case .denied, .permissionDenied: "not allowed; an administrator can, or the polkit rules can be changed"
    case .itemNotFound: "no such secret; whorl list shows the names"
    case .itemInvalidated: "gone for good, for the enrolled fingers changed; store it again with whorl set"
    case .duplicateItem: "a secret of that name exists; remove it first with whorl rm"
    case .param, .unsupported: "whorld does not know a part of the request; whorl and whorld must be of one version"
    case .tooLarge: "too large for the store; store something shorter"
    case .storeUnavailable: "the store cannot be used; whorl status says why"
    case .storeDamaged: "the store is damaged; restore it from a backup"
    case .storeTooNew: "the store was written by a newer whorld; install that version again"
    case .noSuchUser: "no such user; check the name"
    case .readerFailed: "the reader failed; unplug it and plug it in again, then try again"
    case .failed, .other: "whorld could not do it; journalctl -u whorld says why"
    case .noSuchDevice: "no fingerprint reader was found; plug one in, or look with lsusb whether it is seen at all"
    case .printsNotDeleted: "the reader's own copy could not be deleted; try again, or whorl delete --all"
    case .noDaemon: "whorld does not run and could not be started; try: systemctl start whorld"
    case .disconnected: "the connection to whorld broke off; try again, journalctl -u whorld says why"
    case .noAnswer: "whorld does not answer; try: systemctl restart whorld"
    case .unreadableAnswer: "whorld's answer makes no sense; whorl and whorld must be of one version"
    }
  }
}
