/// A request with the number that its reply will carry.
public struct NumberedRequest: Sendable, Hashable {
  /// The number; whorld never uses one twice in the life of a bridge.
  public var number: UInt64
  /// What is asked.
  public var request: ReaderRequest

  /// A request with this number.
  public init(number: UInt64, request: ReaderRequest) {
    self.number = number
    self.request = request
  }

  /// The request as one frame.
  ///
  /// - Throws: `.tooLarge` for what is beyond ``LinkLimits``.
  public func encoded() throws(LinkError) -> [UInt8] {
    var writer = ByteWriter(kind: request.kind)
    writer.put(number)
    switch request {
    case .ping, .enumerate: break
    case .open(let reader), .close(let reader), .capture(let reader), .listPrints(let reader),
      .clearStorage(let reader):
      writer.put(reader)
    case .enroll(let reader, let finger, let user):
      writer.put(reader)
      writer.put(finger?.rawValue ?? 0)
      try writer.put(user)
    case .verify(let reader, let print), .deletePrint(let reader, let print):
      writer.put(reader)
      try writer.put(print: print)
    case .identify(let reader, let prints), .storedPrints(let reader, let prints):
      writer.put(reader)
      try writer.put(prints: prints)
    case .cancel(let request):
      writer.put(request)
    }
    return try writer.frame(limit: LinkLimits.requestBytes)
  }

  /// The request in this message, as ``FrameDecoder`` gives it.
  ///
  /// - Throws: `LinkError` for any bytes that are no request.
  public init(decoding message: [UInt8]) throws(LinkError) {
    var reader = try ByteReader(message, limit: LinkLimits.requestBytes)
    let kind = try reader.take(UInt8.self)
    number = try reader.take()
    switch kind {
    case 1: request = .ping
    case 2: request = .enumerate
    case 3: request = .open(reader: try reader.take())
    case 4: request = .close(reader: try reader.take())
    case 5:
      let token: UInt32 = try reader.take()
      request = .enroll(reader: token, finger: try reader.takeFinger(), user: try reader.takeText())
    case 6: request = .verify(reader: try reader.take(), print: try reader.takePrint())
    case 7: request = .identify(reader: try reader.take(), prints: try reader.takePrints())
    case 8: request = .capture(reader: try reader.take())
    case 9: request = .listPrints(reader: try reader.take())
    case 10: request = .deletePrint(reader: try reader.take(), print: try reader.takePrint())
    case 11: request = .clearStorage(reader: try reader.take())
    case 12: request = .cancel(request: try reader.take())
    case 13: request = .storedPrints(reader: try reader.take(), known: try reader.takePrints())
    default: throw .unknownMessage(kind)
    }
    try reader.end()
  }
}

extension ReaderRequest {
  fileprivate var kind: UInt8 {
    switch self {
    case .ping: 1
    case .enumerate: 2
    case .open: 3
    case .close: 4
    case .enroll: 5
    case .verify: 6
    case .identify: 7
    case .capture: 8
    case .listPrints: 9
    case .deletePrint: 10
    case .clearStorage: 11
    case .cancel: 12
    case .storedPrints: 13
    }
  }
}
