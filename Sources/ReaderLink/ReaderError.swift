/// Why a touch has to be repeated (libfprint's `FpDeviceRetry`). The operation goes on, or can be started again.
public enum RetryReason: UInt8, Sendable, CaseIterable, Hashable {
  /// The scan did not work, for a reason that the reader does not tell.
  case general = 0
  /// The swipe was too short.
  case tooShort = 1
  /// The finger was not in the middle of the reader.
  case centerFinger = 2
  /// The reader asks to lift the finger and put it back.
  case removeFinger = 3
  /// The swipe was too fast.
  case tooFast = 4
}

/// What goes wrong with a reader: libfprint's `FpDeviceError` codes by name, and what only the bridge can meet.
public enum ReaderError: Error, Sendable, Hashable {
  /// The driver failed in a way it has no code for.
  case general(String)
  /// The reader cannot do that.
  case notSupported(String)
  /// The operation needs an open reader.
  case notOpen(String)
  /// The reader is open already.
  case alreadyOpen(String)
  /// Another operation runs on the reader.
  case busy(String)
  /// The reader and its driver do not understand each other.
  case protocolError(String)
  /// The print is not for this reader, or damaged.
  case dataInvalid(String)
  /// The chip does not know this print.
  case dataNotFound(String)
  /// The chip has no room for another print.
  case dataFull(String)
  /// The chip knows this finger already.
  case dataDuplicate(String)
  /// The reader was unplugged.
  case removed(String)
  /// The reader is too hot and must cool down first.
  case tooHot(String)
  /// A code that this version of Whorl has no name for.
  case unknown(Int32, String)
  /// The touch has to be repeated; where a verification ends with it, start again.
  case retry(RetryReason)
  /// The operation was cancelled by the one who started it.
  case cancelled
  /// The kernel does not let the bridge open the reader.
  case permissionDenied(String)
  /// Another process holds the reader.
  case heldElsewhere(String)
  /// The bridge has no reader with that token.
  case noSuchReader
  /// The bridge process died, stopped answering or spoke nonsense, and was replaced; the request can be made again.
  case bridgeFailed(String)
  /// The bridge failed several times in a row, and is not started again at once.
  case bridgeKeepsFailing(String)
  /// The bridge cannot run on this machine as it is set up; the text says what to do.
  case bridgeUnable(String)
}
