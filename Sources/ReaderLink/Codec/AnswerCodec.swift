extension ReaderAnswer {
  /// The message as one frame.
  ///
  /// - Throws: `.tooLarge` for what is beyond ``LinkLimits``.
  public func encoded() throws(LinkError) -> [UInt8] {
    var writer: ByteWriter
    switch self {
    case .hello(let version, let libfprint):
      writer = ByteWriter(kind: 1)
      writer.put(version)
      try writer.put(libfprint)
    case .reply(let request, let reply):
      writer = ByteWriter(kind: 2)
      writer.put(request)
      try writer.put(reply)
    case .event(let event):
      writer = ByteWriter(kind: 3)
      try writer.put(event)
    }
    return try writer.frame(limit: LinkLimits.answerBytes)
  }

  /// The message in these bytes, as ``FrameDecoder`` gives them.
  ///
  /// - Throws: `LinkError` for any bytes that are no message, and for values that are impossible, such as a stage
  ///   beyond the last one.
  public init(decoding message: [UInt8]) throws(LinkError) {
    var reader = try ByteReader(message, limit: LinkLimits.answerBytes)
    let kind = try reader.take(UInt8.self)
    switch kind {
    case 1: self = .hello(version: try reader.take(), libfprint: try reader.takeText())
    case 2: self = .reply(request: try reader.take(), try reader.takeReply())
    case 3: self = .event(try reader.takeEvent())
    default: throw .unknownMessage(kind)
    }
    try reader.end()
  }
}

extension ByteWriter {
  fileprivate mutating func put(_ reply: ReaderReply) throws(LinkError) {
    switch reply {
    case .done: put(UInt8(1))
    case .pong: put(UInt8(2))
    case .readers(let readers):
      put(UInt8(3))
      try put(readers)
    case .print(let print):
      put(UInt8(4))
      try put(print: print)
    case .verdict(let matched, let index):
      put(UInt8(5))
      put(matched)
      put(index)
    case .image(let width, let height, let pixels):
      guard width <= LinkLimits.imageSide, height <= LinkLimits.imageSide else { throw .tooLarge("an image") }
      guard pixels.count == Int(width) * Int(height) else { throw .invalid("an image's size") }
      put(UInt8(6))
      put(width)
      put(height)
      put(raw: pixels)
    case .prints(let prints):
      put(UInt8(7))
      try put(prints: prints)
    case .failed(let error):
      put(UInt8(8))
      try put(error)
    case .storedPrints(let prints):
      put(UInt8(9))
      try put(prints)
    }
  }

  fileprivate mutating func put(_ event: ReaderEvent) throws(LinkError) {
    switch event {
    case .enrollProgress(let request, let stage, let total):
      put(UInt8(1))
      put(request)
      put(stage)
      put(total)
    case .retry(let request, let reason):
      put(UInt8(2))
      put(request)
      put(reason.rawValue)
    case .fingerStatus(let reader, let needed, let present):
      put(UInt8(3))
      put(reader)
      put(needed)
      put(present)
    case .readersChanged(let readers):
      put(UInt8(4))
      try put(readers)
    case .verdict(let request, let matched, let index):
      put(UInt8(5))
      put(request)
      put(matched)
      put(index)
    case .unusablePrints(let request, let indices):
      guard indices.count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
      put(UInt8(6))
      put(request)
      put(UInt16(indices.count))
      for index in indices { put(index) }
    case .temperature(let reader, let temperature):
      put(UInt8(7))
      put(reader)
      put(temperature.rawValue)
    case .deviceIgnored(let error):
      put(UInt8(8))
      try put(error)
    case .strangerPrint(let request, let print):
      put(UInt8(9))
      put(request)
      try put(print: print)
    }
  }

  private mutating func put(_ prints: [StoredPrint]) throws(LinkError) {
    guard prints.count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
    put(UInt16(prints.count))
    for print in prints {
      try put(print: print.bytes)
      try put(print.user)
      put(print.finger?.rawValue ?? 0)
      put(print.enrolled ?? 0)
      try put(print.driver)
      try put(print.deviceID)
      put(print.knownIndex != nil)
      guard let index = UInt32(exactly: print.knownIndex ?? 0) else { throw .invalid("the index of a print") }
      put(index)
    }
  }

  private mutating func put(_ readers: [ReaderDescription]) throws(LinkError) {
    guard readers.count <= LinkLimits.readers else { throw .tooLarge("a list of readers") }
    put(UInt8(readers.count))
    for reader in readers {
      put(reader.token)
      try put(reader.driver)
      try put(reader.deviceID)
      try put(reader.name)
      put(reader.scanType.rawValue)
      put(reader.features.rawValue)
      put(reader.enrollStages)
      put(reader.temperature.rawValue)
      try put(reader.hint)
    }
  }
}

extension ByteReader {
  fileprivate mutating func takeReply() throws(LinkError) -> ReaderReply {
    let kind = try take(UInt8.self)
    switch kind {
    case 1: return .done
    case 2: return .pong
    case 3: return .readers(try takeReaders())
    case 4: return .print(try takePrint())
    case 5: return .verdict(matched: try takeBool("a verdict"), index: try take())
    case 6:
      let width = try take(UInt32.self)
      let height = try take(UInt32.self)
      guard width <= LinkLimits.imageSide, height <= LinkLimits.imageSide else { throw .tooLarge("an image") }
      return .image(width: width, height: height, pixels: try takeRaw(Int(width) * Int(height)))
    case 7: return .prints(try takePrints())
    case 8: return .failed(try takeError())
    case 9: return .storedPrints(try takeStoredPrints())
    default: throw .unknownMessage(kind)
    }
  }

  fileprivate mutating func takeEvent() throws(LinkError) -> ReaderEvent {
    let kind = try take(UInt8.self)
    switch kind {
    case 1:
      let request = try take(UInt64.self)
      let stage = try take(UInt32.self)
      let total = try take(UInt32.self)
      guard total <= LinkLimits.enrollStages, stage <= total else { throw .invalid("an enrolment's stage") }
      return .enrollProgress(request: request, stage: stage, of: total)
    case 2:
      let request = try take(UInt64.self)
      return .retry(request: request, reason: try takeRetryReason())
    case 3:
      let reader = try take(UInt32.self)
      return .fingerStatus(
        reader: reader, needed: try takeBool("a finger's status"), present: try takeBool("a finger's status"))
    case 4: return .readersChanged(try takeReaders())
    case 5: return .verdict(request: try take(), matched: try takeBool("a verdict"), index: try take())
    case 6:
      let request = try take(UInt64.self)
      let count = Int(try take(UInt16.self))
      guard count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
      var indices: [UInt32] = []
      for _ in 0..<count { indices.append(try take()) }
      return .unusablePrints(request: request, indices: indices)
    case 7: return .temperature(reader: try take(), try takeTemperature())
    case 8: return .deviceIgnored(try takeError())
    case 9: return .strangerPrint(request: try take(), print: try takePrint())
    default: throw .unknownMessage(kind)
    }
  }

  private mutating func takeTemperature() throws(LinkError) -> ReaderTemperature {
    guard let temperature = ReaderTemperature(rawValue: try take()) else { throw .invalid("a temperature") }
    return temperature
  }

  mutating func takeRetryReason() throws(LinkError) -> RetryReason {
    guard let reason = RetryReason(rawValue: try take()) else { throw .invalid("a retry reason") }
    return reason
  }

  private mutating func takeStoredPrints() throws(LinkError) -> [StoredPrint] {
    let count = Int(try take(UInt16.self))
    guard count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
    var prints: [StoredPrint] = []
    for _ in 0..<count {
      let bytes = try takePrint()
      let user = try takeText()
      let finger = try takeFinger()
      let enrolled = try take(UInt32.self)
      let driver = try takeText()
      let deviceID = try takeText()
      let isKnown = try takeBool("the index of a print")
      let index = try take(UInt32.self)
      guard isKnown || index == 0 else { throw .invalid("the index of a print") }
      prints.append(
        StoredPrint(
          bytes: bytes, user: user, finger: finger, enrolled: enrolled == 0 ? nil : enrolled, driver: driver,
          deviceID: deviceID, knownIndex: isKnown ? Int(index) : nil))
    }
    return prints
  }

  /// A finger's number, with 0 for none.
  mutating func takeFinger() throws(LinkError) -> Finger? {
    let number = try take(UInt8.self)
    if number == 0 { return nil }
    guard let finger = Finger(rawValue: number) else { throw .invalid("a finger") }
    return finger
  }

  private mutating func takeReaders() throws(LinkError) -> [ReaderDescription] {
    let count = Int(try take(UInt8.self))
    guard count <= LinkLimits.readers else { throw .tooLarge("a list of readers") }
    var readers: [ReaderDescription] = []
    for _ in 0..<count {
      let token = try take(UInt32.self)
      let driver = try takeText()
      let deviceID = try takeText()
      let name = try takeText()
      guard let scanType = ScanType(rawValue: try take()) else { throw .invalid("a scan type") }
      let features = ReaderFeatures(rawValue: try take())
      let stages = try take(UInt32.self)
      guard stages <= LinkLimits.enrollStages else { throw .invalid("a number of stages") }
      let temperature = try takeTemperature()
      readers.append(
        ReaderDescription(
          token: token, driver: driver, deviceID: deviceID, name: name, scanType: scanType, features: features,
          enrollStages: stages, temperature: temperature, hint: try takeText()))
    }
    return readers
  }
}
