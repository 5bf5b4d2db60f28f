import WhorlClient

extension WhorlError {
  /// The exit code that stands for it.
  var exitCode: ExitCode {
    switch code {
    case .authenticationFailed, .wrongPassphrase: .authenticationFailed
    case .userCancel, .userFallback, .systemCancel, .appCancel, .cancelled: .cancelled
    case .biometryLockout, .passcodeDelayed: .lockedOut
    case .biometryNotAvailable: .noReader
    case .biometryNotEnrolled: .noFingers
    case .itemNotFound, .noSuchUser: .notFound
    case .itemInvalidated: .gone
    case .denied, .impostor: .notAllowed
    case .storeUnavailable, .storeDamaged, .storeTooNew: .storeUnavailable
    case .notInteractive, .passcodeNeeded: .noTerminal
    case .busy: .busy
    case .timedOut: .timedOut
    case .locked, .formerPasscodeNeeded: .locked
    case .noDaemon, .disconnected, .otherDaemon: .noDaemon
    case .fprint(let name): Self.exitCode(name)
    case .passcodeNotSet, .invalidContext, .duplicateItem, .param, .unsupported, .tooLarge, .readerFailed, .failed,
      .applicationPasswordNeeded, .archiveDamaged, .archiveTooNew, .notArchive, .noAnswer, .badAnswer, .secretMemory,
      .unknown:
      .failed
    }
  }

  private static func exitCode(_ name: FprintErrorName) -> ExitCode {
    switch name {
    case .noSuchDevice: .noReader
    case .noEnrolledPrints: .noFingers
    case .permissionDenied: .notAllowed
    case .alreadyInUse: .busy
    case .claimDevice, .internalError, .noActionInProgress, .invalidFingerName, .printsNotDeleted,
      .printsNotDeletedFromDevice:
      .failed
    }
  }

  /// One line for people. `subject` is what the command was about: a quoted name, a finger in words.
  func sentence(about subject: String) -> String {
    let detail = Escaping.clause(message)
    let (what, remedy) = Escaping.parts(detail)
    switch code {
    // fprintd's words say neither the thing nor the remedy; whorld's own do.
    case .fprint where remedy == nil, .noDaemon, .noAnswer, .disconnected, .cancelled, .unknown:
      // One remedy is enough: of the other sentence only what happened.
      return "\(subject): \(ownSentence)\(what.isEmpty ? "" : " (\(what))")"
    // Said in one way, whoever says it.
    case .biometryLockout: return "\(subject): \(ownSentence)"
    // These come with a sentence that names the thing and the remedy already; ours stands in where it is missing.
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
    case .userCancel, .userFallback, .appCancel, .cancelled: "cancelled, and nothing was changed; run the command again"
    case .systemCancel: "the system ended the request (sleep, or the daemon stopped); try again"
    case .passcodeNotSet: "your account has no password; set one with passwd, then try again"
    case .passcodeNeeded: "the passcode is needed; run the command on a terminal"
    case .formerPasscodeNeeded:
      "your login password was changed since it last unlocked your secrets; give the former one once with: whorl unlock"
    case .locked: "your secrets are locked; unlock them with: whorl unlock"
    case .applicationPasswordNeeded: "it has a password of the program that stored it; read it with that program"
    case .passcodeDelayed: "too many wrong passcodes; wait a little and try again"
    case .biometryNotAvailable: "no fingerprint reader can be used; whorl status says why"
    case .biometryNotEnrolled: "no finger is enrolled; enrol one with: whorl enroll"
    case .biometryLockout:
      "fingers are locked out after too many misses; end that with your password: whorl verify"
    case .invalidContext: "the request has ended; run the command again"
    case .notInteractive: "the finger or the passcode is needed; run the command on a terminal"
    case .timedOut: "nobody came to the reader in time; run the command again"
    case .busy: "the reader is in use by another program; close that one and try again"
    case .denied: "not allowed; an administrator may do it"
    case .itemNotFound: "no such secret; whorl list shows the names"
    case .itemInvalidated: "gone for good, for the enrolled fingers changed; store it again with whorl set"
    case .duplicateItem: "a secret of that name exists; remove it first with whorl rm"
    case .param, .unsupported: "whorld does not know a part of the request; whorl and whorld must be of one version"
    case .tooLarge:
      "too large for the store, or the store is full; store something shorter, or remove what is not needed"
    case .storeUnavailable: "the store cannot be used; whorl status says why"
    case .storeDamaged: "the store is damaged; restore it from a backup"
    case .storeTooNew: "the store was written by a newer whorld; install that version again"
    case .noSuchUser: "no such user; check the name"
    case .readerFailed:
      "the reader stopped or failed; try again, and look at whorl status and whorld's log if it stays so"
    case .wrongPassphrase: "the passphrase is not the export file's; try again"
    case .archiveDamaged: "the export file is damaged or was altered; copy it again, or use another backup"
    case .archiveTooNew: "the export file was written by a newer version; update Whorl"
    case .notArchive: "this is no export file of Whorl's; give one that whorl export wrote"
    case .failed: "whorld could not do it; journalctl -u whorld says why"
    case .noDaemon: "whorld does not run and could not be started; try: sudo systemctl start whorld"
    case .otherDaemon:
      "fprintd runs in whorld's place; stop it with: sudo systemctl disable --now fprintd, then try again"
    case .disconnected: "the connection to whorld broke off; try again, journalctl -u whorld says why"
    case .noAnswer: "whorld does not answer; try: sudo systemctl restart whorld"
    case .impostor: "another program has taken whorld's name on the bus; have the administrator look at it"
    case .badAnswer: "whorld's answer makes no sense; whorl and whorld must be of one version"
    case .secretMemory: "no protected memory for the secret; raise the limit on locked memory (ulimit -l)"
    case .unknown: "whorld answered with an error that whorl does not know; both must be of one version"
    case .fprint(let name): Self.sentence(name)
    }
  }

  private static func sentence(_ name: FprintErrorName) -> String {
    switch name {
    case .permissionDenied: "not allowed; run it with sudo"
    case .alreadyInUse: "in use by another program; close that one (a settings window, another whorl) and try again"
    case .noSuchDevice: "no fingerprint reader was found; whorl status says more, and lsusb whether it is seen at all"
    case .noEnrolledPrints: "no finger is enrolled; enrol one with: whorl enroll"
    case .printsNotDeleted: "not deleted; journalctl -u whorld says why"
    case .printsNotDeletedFromDevice: "deleted, but the reader's own copy was not; try whorl delete --all"
    case .claimDevice, .noActionInProgress: "the reader was taken away in between (sleep?); try again"
    case .invalidFingerName: "whorld does not know this finger; whorl and whorld must be of one version"
    case .internalError:
      "the reader or whorld failed; try again, and look at whorl status and whorld's log if it stays so"
    }
  }
}
