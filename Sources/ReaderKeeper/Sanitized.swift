internal import ReaderLink

extension ReaderDescription {
  /// The same with its texts cut to what is printable.
  var sanitized: ReaderDescription {
    var copy = self
    copy.driver = driver.printable
    copy.deviceID = deviceID.printable
    copy.name = name.printable
    copy.hint = hint.printable
    return copy
  }
}

extension ReaderError {
  /// The same with its text cut to what is printable: it goes to logs and terminals.
  var sanitized: ReaderError {
    switch self {
    case .general(let text): .general(text.printable)
    case .notSupported(let text): .notSupported(text.printable)
    case .notOpen(let text): .notOpen(text.printable)
    case .alreadyOpen(let text): .alreadyOpen(text.printable)
    case .busy(let text): .busy(text.printable)
    case .protocolError(let text): .protocolError(text.printable)
    case .dataInvalid(let text): .dataInvalid(text.printable)
    case .dataNotFound(let text): .dataNotFound(text.printable)
    case .dataFull(let text): .dataFull(text.printable)
    case .dataDuplicate(let text): .dataDuplicate(text.printable)
    case .removed(let text): .removed(text.printable)
    case .tooHot(let text): .tooHot(text.printable)
    case .unknown(let code, let text): .unknown(code, text.printable)
    case .permissionDenied(let text): .permissionDenied(text.printable)
    case .heldElsewhere(let text): .heldElsewhere(text.printable)
    case .bridgeFailed(let text): .bridgeFailed(text.printable)
    case .bridgeKeepsFailing(let text): .bridgeKeepsFailing(text.printable)
    case .bridgeUnable(let text): .bridgeUnable(text.printable)
    case .retry, .cancelled, .noSuchReader: self
    }
  }
}
