internal import WhorlClient

extension ItemRequestError {
  /// What the enclave, or the way to it, said, as a status code of Apple's.
  init(_ error: WhorlError) { self.init(Self.status(of: error.code), error.message) }

  private static func status(of code: WhorlError.Code) -> OSStatus {
    switch code {
    case .itemNotFound, .itemInvalidated: errSecItemNotFound
    case .duplicateItem: errSecDuplicateItem
    case .userCancel, .userFallback, .systemCancel, .appCancel, .cancelled: errSecUserCanceled
    case .authenticationFailed, .passcodeNotSet, .passcodeDelayed, .biometryNotAvailable, .biometryNotEnrolled,
      .biometryLockout, .timedOut, .denied, .readerFailed, .wrongPassphrase, .noSuchUser, .applicationPasswordNeeded:
      errSecAuthFailed
    case .notInteractive, .passcodeNeeded, .formerPasscodeNeeded, .locked: errSecInteractionNotAllowed
    case .invalidContext: errSecInvalidContext
    case .param: errSecParam
    case .unsupported: errSecUnimplemented
    case .tooLarge: errSecDataTooLarge
    case .storeDamaged, .archiveDamaged, .notArchive, .badAnswer: errSecDecode
    case .storeTooNew, .archiveTooNew: errSecIncompatibleVersion
    case .secretMemory: errSecAllocate
    case .storeUnavailable, .busy, .noDaemon, .disconnected, .impostor, .otherDaemon, .noAnswer, .fprint:
      errSecNotAvailable
    case .failed, .unknown: errSecInternalError
    }
  }
}
