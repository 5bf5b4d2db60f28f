import ReaderLink
import Testing

/// A frame without its length.
private func message(_ frame: [UInt8]) -> [UInt8] { Array(frame.dropFirst(4)) }

@Suite struct CodecTests {
  @Test(arguments: Samples.requests) func `a request survives the way`(_ request: ReaderRequest) throws {
    let numbered = NumberedRequest(number: 0x0102_0304_0506_0708, request: request)
    #expect(try NumberedRequest(decoding: message(numbered.encoded())) == numbered)
  }

  @Test(arguments: Samples.answers) func `an answer survives the way`(_ answer: ReaderAnswer) throws {
    #expect(try ReaderAnswer(decoding: message(answer.encoded())) == answer)
  }

  @Test(arguments: Samples.answers) func `a cut answer is an error at every length`(_ answer: ReaderAnswer) throws {
    let whole = message(try answer.encoded())
    for length in 0..<whole.count {
      #expect(throws: LinkError.self) { try ReaderAnswer(decoding: Array(whole.prefix(length))) }
    }
    #expect(throws: LinkError.trailingBytes) { try ReaderAnswer(decoding: whole + [0]) }
  }

  @Test(arguments: Samples.requests) func `a cut request is an error at every length`(_ request: ReaderRequest) throws {
    let whole = message(try NumberedRequest(number: 1, request: request).encoded())
    for length in 0..<whole.count {
      #expect(throws: LinkError.self) { try NumberedRequest(decoding: Array(whole.prefix(length))) }
    }
    #expect(throws: LinkError.trailingBytes) { try NumberedRequest(decoding: whole + [0]) }
  }

  @Test(arguments: 0..<16) func `any bytes give a value that encodes to the same bytes, or an error`(_ seed: Int) {
    var random = Random(seed: UInt64(seed))
    for _ in 0..<2000 {
      var bytes = (0..<random.next(below: 60)).map { _ in UInt8(random.next(below: 256)) }
      // Half of them get through the first switches, so that the inner ones are reached too.
      if !bytes.isEmpty, random.next(below: 2) == 0 { bytes[0] = UInt8(random.next(below: 14)) }
      if bytes.count > 9, random.next(below: 2) == 0 { bytes[9] = UInt8(random.next(below: 20)) }
      if let answer = try? ReaderAnswer(decoding: bytes) { #expect((try? message(answer.encoded())) == bytes) }
      if let request = try? NumberedRequest(decoding: bytes) { #expect((try? message(request.encoded())) == bytes) }
    }
  }

  @Test(arguments: 0..<8) func `a message with flipped bytes gives a value or an error`(_ seed: Int) throws {
    var random = Random(seed: UInt64(seed))
    for answer in Samples.answers {
      let whole = message(try answer.encoded())
      for _ in 0..<100 {
        var bytes = whole
        for _ in 0...random.next(below: 3) { bytes[random.next(below: bytes.count)] = UInt8(random.next(below: 256)) }
        if let value = try? ReaderAnswer(decoding: bytes) { #expect((try? message(value.encoded())) == bytes) }
      }
    }
  }

  @Test func `what is too large is refused by the writer`() {
    let long = String(repeating: "x", count: LinkLimits.textBytes + 1)
    let reader = Samples.readers[0]
    let answers: [ReaderAnswer] = [
      .hello(version: 1, libfprint: long), .reply(request: 1, .failed(.general(long))),
      .reply(request: 1, .readers(Array(repeating: reader, count: LinkLimits.readers + 1))),
      .reply(request: 1, .print(Array(repeating: 0, count: LinkLimits.printBytes + 1))),
      .reply(request: 1, .prints(Array(repeating: [], count: LinkLimits.prints + 1))),
      .reply(request: 1, .prints(Array(repeating: Array(repeating: 0, count: LinkLimits.printBytes), count: 5))),
      .reply(request: 1, .image(width: LinkLimits.imageSide + 1, height: 0, pixels: [])),
      .reply(request: 1, .image(width: 2, height: 2, pixels: [1])),
      .event(.unusablePrints(request: 1, indices: Array(repeating: 0, count: LinkLimits.prints + 1))),
    ]
    for answer in answers { #expect(throws: LinkError.self) { try answer.encoded() } }
  }

  @Test func `impossible values are refused by the reader`() throws {
    // An enrolment at stage 6 of 5, and one of 101 stages.
    for (stage, total) in [(6, 5), (1, 101)] {
      let answer = ReaderAnswer.event(.enrollProgress(request: 1, stage: UInt32(stage), of: UInt32(total)))
      let bytes = message(try answer.encoded())
      #expect(throws: LinkError.invalid("an enrolment's stage")) { try ReaderAnswer(decoding: bytes) }
    }
    #expect(throws: LinkError.unknownMessage(9)) { try ReaderAnswer(decoding: [9]) }
    // A text that is no UTF-8.
    #expect(throws: LinkError.invalid("a text")) { try ReaderAnswer(decoding: [1, 1, 0, 1, 0, 0xff]) }
    // A list of 1025 indices, and one whose indices are not there.
    let head: [UInt8] = [3, 6, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(throws: LinkError.tooLarge("a list of prints")) { try ReaderAnswer(decoding: head + [1, 4]) }
    #expect(throws: LinkError.truncated) { try ReaderAnswer(decoding: head + [0, 1]) }
    // An image that claims 4096 x 4096 pixels and has none.
    let image: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0x10, 0, 0, 0, 0x10, 0, 0]
    #expect(throws: LinkError.truncated) { try ReaderAnswer(decoding: image) }
  }
}

/// xorshift64*, so that a failing round can be repeated.
struct Random {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next(below bound: Int) -> Int {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
  }
}
