/// What whorld asks of the bridge. Every request but `cancel` is answered by exactly one `ReaderReply` with its number.
public enum ReaderRequest: Sendable, Hashable {
  /// Answer at once with `pong`: the bridge is alive even while a reader waits for a finger.
  case ping
  /// Look for readers (once per bridge process; later calls give the same list brought up to date).
  case enumerate
  /// Open a reader.
  case open(reader: UInt32)
  /// Close a reader.
  case close(reader: UInt32)
  /// Enrol a finger; the template carries no name unless `user` is not empty.
  case enroll(reader: UInt32, finger: Finger?, user: String)
  /// Check one touch against one serialised print.
  case verify(reader: UInt32, print: [UInt8])
  /// Tell which of the serialised prints one touch matches. Those that are of no use here are left out and told by
  /// `unusablePrints`; without any other one it fails with `dataInvalid`.
  case identify(reader: UInt32, prints: [[UInt8]])
  /// Take one image, waiting for a finger.
  case capture(reader: UInt32)
  /// List the prints on the reader's chip.
  case listPrints(reader: UInt32)
  /// List the prints on the reader's chip, each with what libfprint reads in it and which of the `known` prints it is.
  case storedPrints(reader: UInt32, known: [[UInt8]])
  /// Delete one print from the reader's chip.
  case deletePrint(reader: UInt32, print: [UInt8])
  /// Delete every print from the reader's chip.
  case clearStorage(reader: UInt32)
  /// End the request with that number; it then fails with `cancelled`, unless it was done already.
  case cancel(request: UInt64)
}

/// How a request ended.
public enum ReaderReply: Sendable, Hashable {
  /// The answer to `ping`.
  case pong
  /// `open`, `close`, `deletePrint` and `clearStorage` are done.
  case done
  /// The readers that are there.
  case readers([ReaderDescription])
  /// The enrolled print, serialised by libfprint (format FP3).
  case print([UInt8])
  /// Whether the touch matched, and for `identify` which print, as an index into those given.
  case verdict(matched: Bool, index: UInt32)
  /// One image, 8-bit grey, row by row.
  case image(width: UInt32, height: UInt32, pixels: [UInt8])
  /// The prints on the chip.
  case prints([[UInt8]])
  /// The prints on the chip with what is in them.
  case storedPrints([StoredPrint])
  /// The request failed.
  case failed(ReaderError)
}

/// What the bridge tells by itself.
public enum ReaderEvent: Sendable, Hashable {
  /// An enrolment passed this many of its stages.
  case enrollProgress(request: UInt64, stage: UInt32, of: UInt32)
  /// A touch of this request has to be repeated.
  case retry(request: UInt64, reason: RetryReason)
  /// What came of the touch, told before the end of the request: many readers end it only when the finger is lifted.
  /// The reply repeats it.
  case verdict(request: UInt64, matched: Bool, index: UInt32)
  /// The prints that an `identify` leaves out, as indices into those given: damaged, or another reader's. Told at most
  /// once a request and before the reader waits for a finger; without it every print counts.
  case unusablePrints(request: UInt64, indices: [UInt32])
  /// The chip knows the finger that an `identify` saw, as this print of its own, which is none of those given. Told at
  /// most once a request and before its verdict, which is that none matched.
  case strangerPrint(request: UInt64, print: [UInt8])
  /// What the reader waits for, and whether a finger lies on it.
  case fingerStatus(reader: UInt32, needed: Bool, present: Bool)
  /// How warm a reader is now.
  case temperature(reader: UInt32, ReaderTemperature)
  /// A device is there that libfprint has a driver for, but it could not be set up and is not in the list. Told before
  /// the list that it is missing from.
  case deviceIgnored(ReaderError)
  /// The set of readers changed. Many changes in a short time are told as one.
  case readersChanged([ReaderDescription])
}

/// One message from the bridge.
public enum ReaderAnswer: Sendable, Hashable {
  /// The first message of a bridge: the version of this protocol that it speaks and libfprint's version.
  case hello(version: UInt16, libfprint: String)
  /// The end of a request.
  case reply(request: UInt64, ReaderReply)
  /// Something on the way.
  case event(ReaderEvent)
}
