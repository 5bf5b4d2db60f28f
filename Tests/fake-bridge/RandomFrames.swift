import ReaderLink

/// Messages that follow no rule, the same for the same seed.
struct RandomFrames {
  private var state: UInt64

  init(seed: UInt64) { state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next(below bound: Int) -> Int {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
  }

  mutating func bytes(_ most: Int) -> [UInt8] { (0..<next(below: most)).map { _ in UInt8(next(below: 256)) } }

  /// Some frames in place of the answer to a request; nil ends the process.
  mutating func frames(for number: UInt64, good: ReaderReply) -> [[UInt8]]? {
    var frames: [[UInt8]] = []
    for _ in 0..<next(below: 4) {
      switch next(below: 12) {
      case 0: frames.append(bytes(60))
      case 1:
        let body = bytes(60)
        frames.append([UInt8(body.count), 0, 0, 0] + body)
      case 2: return nil
      case 3...5: frames += encoded(.reply(request: number &- UInt64(next(below: 3)), reply()))
      default: frames += encoded(.event(event(number &- UInt64(next(below: 3)))))
      }
    }
    if next(below: 5) != 0 { frames += encoded(.reply(request: number, good)) }
    return frames
  }

  private func encoded(_ answer: ReaderAnswer) -> [[UInt8]] { (try? answer.encoded()).map { [$0] } ?? [] }

  private mutating func reply() -> ReaderReply {
    switch next(below: 9) {
    case 0: .done
    case 1: .pong
    case 2: .readers(readers())
    case 3: .print(bytes(40))
    case 4: .verdict(matched: next(below: 2) == 0, index: UInt32(next(below: 3)))
    case 5: .image(width: 2, height: 2, pixels: [1, 2, 3, 4])
    case 6: .prints([bytes(20)])
    case 7: .storedPrints([])
    default: .failed(.general("\u{1b}"))
    }
  }

  private mutating func event(_ number: UInt64) -> ReaderEvent {
    switch next(below: 8) {
    case 0: .enrollProgress(request: number, stage: UInt32(next(below: 3)), of: 3)
    case 1: .retry(request: number, reason: .tooShort)
    case 2: .verdict(request: number, matched: next(below: 2) == 0, index: UInt32(next(below: 2)))
    case 3: .unusablePrints(request: number, indices: [UInt32(next(below: 2))])
    case 4: .fingerStatus(reader: UInt32(next(below: 3)), needed: true, present: false)
    case 5: .temperature(reader: UInt32(next(below: 3)), .warm)
    case 6: .deviceIgnored(.permissionDenied("x"))
    default: .readersChanged(readers())
    }
  }

  private mutating func readers() -> [ReaderDescription] {
    (0..<next(below: 3)).map { _ in
      ReaderDescription(
        token: UInt32(next(below: 3)), driver: "fake", deviceID: "\(next(below: 2))", name: "", scanType: .press,
        features: [], enrollStages: 3, hint: next(below: 2) == 0 ? "" : "usb:\(next(below: 3))")
    }
  }
}
