extension ByteWriter {
  mutating func put(_ error: ReaderError) throws(LinkError) {
    switch error {
    case .unknown(let code, let text):
      put(UInt8(13))
      put(code)
      try put(text)
    case .retry(let reason):
      put(UInt8(14))
      put(reason.rawValue)
    case .cancelled: put(UInt8(15))
    case .noSuchReader: put(UInt8(17))
    default:
      let (kind, text) = error.kindAndText
      put(kind)
      try put(text)
    }
  }
}

extension ByteReader {
  mutating func takeError() throws(LinkError) -> ReaderError {
    let kind = try take(UInt8.self)
    switch kind {
    case 1: return .general(try takeText())
    case 2: return .notSupported(try takeText())
    case 3: return .notOpen(try takeText())
    case 4: return .alreadyOpen(try takeText())
    case 5: return .busy(try takeText())
    case 6: return .protocolError(try takeText())
    case 7: return .dataInvalid(try takeText())
    case 8: return .dataNotFound(try takeText())
    case 9: return .dataFull(try takeText())
    case 10: return .dataDuplicate(try takeText())
    case 11: return .removed(try takeText())
    case 12: return .tooHot(try takeText())
    case 13: return .unknown(try take(), try takeText())
    case 14: return .retry(try takeRetryReason())
    case 15: return .cancelled
    case 16: return .permissionDenied(try takeText())
    case 17: return .noSuchReader
    case 18: return .bridgeFailed(try takeText())
    case 19: return .heldElsewhere(try takeText())
    case 20: return .bridgeKeepsFailing(try takeText())
    case 21: return .bridgeUnable(try takeText())
    default: throw .unknownMessage(kind)
    }
  }
}

extension ReaderError {
  /// The number and the text of the errors that carry a text alone.
  fileprivate var kindAndText: (UInt8, String) {
    switch self {
    case .general(let text): (1, text)
    case .notSupported(let text): (2, text)
    case .notOpen(let text): (3, text)
    case .alreadyOpen(let text): (4, text)
    case .busy(let text): (5, text)
    case .protocolError(let text): (6, text)
    case .dataInvalid(let text): (7, text)
    case .dataNotFound(let text): (8, text)
    case .dataFull(let text): (9, text)
    case .dataDuplicate(let text): (10, text)
    case .removed(let text): (11, text)
    case .tooHot(let text): (12, text)
    case .permissionDenied(let text): (16, text)
    case .bridgeFailed(let text): (18, text)
    case .heldElsewhere(let text): (19, text)
    case .bridgeKeepsFailing(let text): (20, text)
    case .bridgeUnable(let text): (21, text)
    case .unknown(_, let text): (13, text)
    case .retry: (14, "")
    case .cancelled: (15, "")
    case .noSuchReader: (17, "")
    }
  }
}
