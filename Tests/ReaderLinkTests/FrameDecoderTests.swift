import ReaderLink
import Testing

@Suite struct FrameDecoderTests {
  @Test func `messages come out whole however the stream is cut`() throws {
    let frames = try Samples.answers.map { try $0.encoded() }
    let stream = frames.flatMap { $0 }
    for step in [1, 2, 3, 7, 64, stream.count] {
      var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
      var found: [ReaderAnswer] = []
      for start in stride(from: 0, to: stream.count, by: step) {
        decoder.append(stream[start..<min(start + step, stream.count)])
        while let message = try decoder.next() { found.append(try ReaderAnswer(decoding: message)) }
      }
      #expect(found == Samples.answers)
      #expect(!decoder.isInsideMessage)
    }
  }

  @Test func `a length beyond the limit is refused before its bytes come`() {
    var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
    decoder.append([1, 0, 0x40, 0])
    #expect(throws: LinkError.tooLarge("a message")) { try decoder.next() }
    #expect(throws: LinkError.tooLarge("a message")) { try decoder.next() }
  }

  @Test func `an empty message is refused`() {
    var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
    decoder.append([0, 0, 0, 0])
    #expect(throws: LinkError.invalid("a message's length")) { try decoder.next() }
  }

  @Test func `a stream that ends inside a message says so`() throws {
    var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
    decoder.append([5, 0, 0])
    #expect(try decoder.next() == nil)
    #expect(decoder.isInsideMessage)
  }
}

@Suite struct PrintableTextTests {
  @Test func `text from a device loses what is not printable and what is too long`() {
    #expect("a\nb\u{1b}[31m\u{202e}c\0".printable == "a?b?[31m?c?")
    #expect(String(repeating: "é", count: 300).printable.utf8.count == 256)
    #expect("Élan MOC 42".printable == "Élan MOC 42")
  }

  @Test func `fingers go by fprintd's names and numbers`() {
    #expect(Finger.allCases.map(\.rawValue) == Array(1...10))
    for finger in Finger.allCases { #expect(Finger(name: finger.name) == finger) }
    #expect(Finger(name: "any") == nil)
    #expect(Finger(name: "right-index-finger") == .rightIndex)
  }
}
