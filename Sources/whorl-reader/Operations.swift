internal import Fingerprint
internal import GLibLoop
internal import ReaderLink

/// Carries out one request.
@GLibActor
struct Operations {
  let roster: Roster
  /// Sends an event on the way.
  let tell: @GLibActor (ReaderEvent) -> Void

  func perform(_ call: NumberedRequest) async throws(ReaderError) -> ReaderReply {
    switch call.request {
    case .ping, .cancel: return .done
    case .enumerate: return .readers(await roster.enumerate())
    case .open(let token):
      try await roster.withReader(token) { reader throws(ReaderError) in try await reader.open() }
      return .done
    case .close(let token):
      try await roster.withReader(token) { reader throws(ReaderError) in try await reader.close() }
      return .done
    case .enroll(let token, let finger, let user):
      return try await enroll(call.number, token, finger, user)
    case .verify(let token, let bytes): return try await verify(call.number, token, bytes)
    case .identify(let token, let list): return try await identify(call.number, token, list)
    case .capture(let token):
      let image = try await roster.withReader(token) { reader throws(ReaderError) in try await reader.capture() }
      return .image(width: UInt32(image.width), height: UInt32(image.height), pixels: image.pixels)
    case .listPrints(let token):
      return try await roster.withReader(token) { reader throws(ReaderError) in
        var list: [[UInt8]] = []
        for print in try await reader.listPrints() { list.append(try print.serialized()) }
        return .prints(list)
      }
    case .storedPrints(let token, let known):
      return try await roster.withReader(token) { reader throws(ReaderError) in
        .storedPrints(Comparison.of(try await reader.listPrints(), with: known))
      }
    case .deletePrint(let token, let bytes):
      let print = try Print(deserializing: bytes)
      try await roster.withReader(token) { reader throws(ReaderError) in try await reader.delete(print) }
      return .done
    case .clearStorage(let token):
      try await roster.withReader(token) { reader throws(ReaderError) in try await reader.clearStorage() }
      return .done
    }
  }

  private func enroll(
    _ number: UInt64, _ token: UInt32, _ finger: Finger?, _ user: String
  ) async throws(ReaderError) -> ReaderReply {
    try await roster.withReader(token) { reader throws(ReaderError) in
      let print = try await reader.enroll(finger: finger, user: user) { step in
        switch step {
        case .stage(let stage):
          // Some drivers learn the number of stages on the way, so it is looked up each time.
          let total = UInt32(clamping: min(max(reader.enrollStages, stage), Int(LinkLimits.enrollStages)))
          tell(.enrollProgress(request: number, stage: min(UInt32(clamping: stage), total), of: total))
        case .retry(let reason): tell(.retry(request: number, reason: reason))
        }
      }
      return .print(try print.serialized())
    }
  }

  private func verify(_ number: UInt64, _ token: UInt32, _ bytes: [UInt8]) async throws(ReaderError) -> ReaderReply {
    let print = try Print(deserializing: bytes)
    return try await roster.withReader(token) { reader throws(ReaderError) in
      let matched = try await reader.verify(print) { tell(event(number, $0)) }
      return .verdict(matched: matched, index: 0)
    }
  }

  private func identify(
    _ number: UInt64, _ token: UInt32, _ list: [[UInt8]]
  ) async throws(ReaderError) -> ReaderReply {
    try await roster.withReader(token) { reader throws(ReaderError) in
      let gallery = Gallery(list, for: reader)
      if !gallery.unusable.isEmpty { tell(.unusablePrints(request: number, indices: gallery.unusable)) }
      if let failure = gallery.failure { throw failure }
      let index = try await reader.identify(gallery.prints) { step in
        switch step {
        case .verdict(let index?): tell(event(number, .verdict(Int(gallery.indices[index]))))
        default: tell(event(number, step))
        }
      }
      return .verdict(matched: index != nil, index: index.map { gallery.indices[$0] } ?? 0)
    }
  }

  private func event(_ number: UInt64, _ step: MatchStep) -> ReaderEvent {
    switch step {
    case .retry(let reason): .retry(request: number, reason: reason)
    case .verdict(let index): .verdict(request: number, matched: index != nil, index: UInt32(index ?? 0))
    case .stranger(let print): .strangerPrint(request: number, print: print)
    }
  }
}
