import ReaderLink

/// One of everything that goes over the link.
enum Samples {
  static let print: [UInt8] = Array("FP3".utf8) + [0, 255, 7]

  static let readers = [
    ReaderDescription(
      token: 7, driver: "goodixmoc", deviceID: "0", name: "Goodix MOC Fingerprint Sensor", scanType: .press,
      features: [.identify, .verify, .storage], enrollStages: 8, temperature: .warm,
      hint: "usb 1-3"),
    ReaderDescription(
      token: .max, driver: "", deviceID: "é", name: "", scanType: .swipe, features: ReaderFeatures(rawValue: .max),
      enrollStages: 100),
  ]

  static let requests: [ReaderRequest] = [
    .ping, .enumerate, .open(reader: 1), .close(reader: .max), .enroll(reader: 2, finger: nil, user: ""),
    .enroll(reader: 2, finger: .rightLittle, user: "élise"), .verify(reader: 3, print: print),
    .identify(reader: 4, prints: [print, [], print]), .identify(reader: 4, prints: []), .capture(reader: 5),
    .storedPrints(reader: 9, known: [print, print]), .storedPrints(reader: 9, known: []), .listPrints(reader: 6),
    .deletePrint(reader: 7, print: print), .clearStorage(reader: 8), .cancel(request: .max),
  ]

  static let errors: [ReaderError] =
    [
      .general("a"), .notSupported("b"), .notOpen("c"), .alreadyOpen("d"), .busy("e"), .protocolError("f"),
      .dataInvalid("g"), .dataNotFound("h"), .dataFull("i"), .dataDuplicate("j"), .removed("k"), .tooHot("l"),
      .unknown(-3, "m"), .cancelled, .permissionDenied("n"), .noSuchReader, .bridgeFailed("o"), .heldElsewhere("p"),
      .bridgeKeepsFailing("q"), .bridgeUnable("r"),
    ] + RetryReason.allCases.map { .retry($0) }

  static let replies: [ReaderReply] =
    [
      .pong, .done, .readers([]), .readers(readers), .print(print), .verdict(matched: true, index: 3),
      .verdict(matched: false, index: 0), .image(width: 3, height: 2, pixels: [1, 2, 3, 4, 5, 6]),
      .image(width: 0, height: 0, pixels: []), .prints([print, print]), .storedPrints([]),
      .storedPrints([
        StoredPrint(
          bytes: print, user: "élise", finger: .leftLittle, enrolled: 20_261_201, driver: "synaptics", deviceID: "0",
          knownIndex: 1023),
        StoredPrint(bytes: [], user: "", finger: nil, driver: "", deviceID: "", knownIndex: nil),
      ]),
    ] + errors.map { .failed($0) }

  static let events: [ReaderEvent] =
    [
      .enrollProgress(request: 9, stage: 5, of: 5), .fingerStatus(reader: 1, needed: true, present: false),
      .readersChanged(readers), .verdict(request: 12, matched: true, index: 1),
      .temperature(reader: 3, .hot), .deviceIgnored(.permissionDenied("x")),
      .unusablePrints(request: 13, indices: [0, 2, .max]), .unusablePrints(request: 14, indices: []),
      .strangerPrint(request: 15, print: print),
    ] + RetryReason.allCases.map { .retry(request: 1, reason: $0) }

  static let answers: [ReaderAnswer] =
    [.hello(version: 1, libfprint: "1.94.5")] + replies.map { .reply(request: 77, $0) } + events.map { .event($0) }
}
