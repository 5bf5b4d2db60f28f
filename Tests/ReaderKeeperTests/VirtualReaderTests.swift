import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// The way from a keeper through the real whorl-reader to libfprint's virtual image reader and back.
@Suite(.timeLimit(.minutes(5))) struct VirtualReaderTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `the reader is listed with what it can do`() async throws {
    let setup = try await VirtualSetup(open: false)
    let readers = try await setup.keeper.readers()
    #expect(readers.count == 1)
    #expect(readers[0].driver == "virtual_image")
    #expect(readers[0].enrollStages == 5)
    #expect(readers[0].scanType == .swipe)
    #expect(readers[0].features.isSuperset(of: [.capture, .verify, .identify]))
    #expect(setup.reader == ReaderID(driver: "virtual_image", deviceID: readers[0].deviceID, ordinal: 0))
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a finger enrols in five stages and is told from others`() async throws {
    let setup = try await VirtualSetup()
    let events = Told<EnrollEvent>()
    async let enrolled = setup.keeper.enroll(setup.reader, finger: .leftThumb, user: "alice") { events.add($0) }
    for number in 1...5 { try await setup.touch(.whorl, number) }
    let print = try await enrolled
    #expect(events.values == (1...5).map { .stage($0, of: 5) })
    #expect(print.starts(with: Array("FP3".utf8)))
    #expect(contains(print, "alice"))
    #expect(contains(print, "virtual_image"))

    #expect(try await setup.verify(print, with: .whorl))
    #expect(try await setup.verify(print, with: .secondWhorl) == false)

    let other = try await setup.enroll(.leftLoop)
    async let index = setup.keeper.identify(setup.reader, prints: [other, print])
    try await setup.touch(.whorl, 7)
    #expect(try await index == 1)
    async let nobody = setup.keeper.identify(setup.reader, prints: [other, print])
    try await setup.touch(.arch)
    #expect(try await nobody == nil)
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a print carries no name unless one is given`() async throws {
    let setup = try await VirtualSetup()
    let print = try await setup.enroll(.whorl, as: nil, user: "")
    #expect(!contains(print, "alice"))
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a capture gives the image as it lay on the reader`() async throws {
    let setup = try await VirtualSetup()
    async let captured = setup.keeper.capture(setup.reader)
    try await setup.touch(.rightLoop, 3)
    let image = try await captured
    let pressed = SyntheticFinger.rightLoop.press(3)
    #expect(image == Image(width: pressed.width, height: pressed.height, pixels: pressed.pixels))
    await setup.keeper.stop()
  }

  @Test @GLibActor func `an enrolment names each reason to repeat a touch and goes on`() async throws {
    let setup = try await VirtualSetup()
    let events = Told<EnrollEvent>()
    async let enrolled = setup.keeper.enroll(setup.reader, finger: .leftThumb, user: "") { events.add($0) }
    let reasons: [RetryReason] = [.general, .tooShort, .centerFinger, .removeFinger]
    for reason in reasons {
      await setup.fingerNeeded()
      try await setup.virtual.retry(reason)
    }
    for number in 1...5 { try await setup.touch(.arch, number) }
    _ = try await enrolled
    #expect(events.values == reasons.map { .retry($0) } + (1...5).map { .stage($0, of: 5) })
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a verification asks for the touch again until one counts`() async throws {
    let setup = try await VirtualSetup()
    let print = try await setup.enroll(.twinLoop)
    let reasons = Told<RetryReason>()
    async let matched = setup.keeper.verify(setup.reader, print: print) { reasons.add($0) }
    await setup.fingerNeeded()
    try await setup.virtual.retry(.tooShort)
    await setup.fingerNeeded()
    try await setup.virtual.retry(.centerFinger)
    try await setup.touch(.twinLoop, 6)
    #expect(try await matched)
    #expect(reasons.values == [.tooShort, .centerFinger])
    await setup.keeper.stop()
  }

  @Test(arguments: [
    (0, "general"), (1, "notSupported"), (2, "notOpen"), (3, "alreadyOpen"), (4, "busy"), (5, "protocolError"),
    (6, "dataInvalid"), (7, "dataNotFound"), (8, "dataFull"), (9, "dataDuplicate"), (0x101, "tooHot"),
    (0x100, "removed"),
  ]) @GLibActor func `each of libfprint's errors comes out under its name`(_ code: Int32, _ name: String) async throws {
    let setup = try await VirtualSetup()
    async let failed = failure { try await setup.keeper.capture(setup.reader) }
    await setup.fingerNeeded()
    try await setup.virtual.fail(code)
    let error = try #require(await failed)
    #expect(String(describing: error).hasPrefix(name))
    // The reader still works.
    async let captured = setup.keeper.capture(setup.reader)
    try await setup.touch(.arch)
    _ = try await captured
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a cancelled enrolment and a cancelled verification end, and the reader goes on`() async throws
  {
    let setup = try await VirtualSetup()
    let enrolment = Task { try await setup.keeper.enroll(setup.reader, finger: nil, user: "") { _ in } }
    try await setup.touch(.leftLoop)
    await setup.fingerNeeded()
    enrolment.cancel()
    #expect(await failure { try await enrolment.value } == .cancelled)

    let print = try await setup.enroll(.leftLoop)
    let check = Task { try await setup.keeper.verify(setup.reader, print: print) }
    await setup.fingerNeeded()
    check.cancel()
    #expect(await failure { try await check.value } == .cancelled)
    #expect(try await setup.verify(print, with: .leftLoop))
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a second operation on a busy reader is refused and the first goes on`() async throws {
    let setup = try await VirtualSetup()
    async let captured = setup.keeper.capture(setup.reader)
    await setup.fingerNeeded()
    guard case .busy = await failure({ try await setup.keeper.capture(setup.reader) }) else {
      Issue.record("a second capture was let in")
      return
    }
    try await setup.virtual.press(.arch)
    _ = try await captured
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a reader must be open, is opened once, and can be closed and opened again`() async throws {
    let setup = try await VirtualSetup(open: false)
    guard case .notOpen = await failure({ try await setup.keeper.capture(setup.reader) }) else {
      Issue.record("a closed reader took a capture")
      return
    }
    try await setup.keeper.open(setup.reader)
    guard case .alreadyOpen = await failure({ try await setup.keeper.open(setup.reader) }) else {
      Issue.record("a reader was opened twice")
      return
    }
    try await setup.keeper.close(setup.reader)
    try await setup.keeper.open(setup.reader)
    let unknown = ReaderID(driver: "virtual_image", deviceID: "x", ordinal: 0)
    #expect(await failure { try await setup.keeper.open(unknown) } == .noSuchReader)
    await setup.keeper.stop()
  }

  @Test(arguments: [[], Array("FP3".utf8), Array("FP3".utf8) + [UInt8](repeating: 0xff, count: 300), [0, 1, 2]])
  @GLibActor func `bytes that are no print are refused by name`(_ bytes: [UInt8]) async throws {
    let setup = try await VirtualSetup()
    guard case .dataInvalid = await failure({ try await setup.keeper.verify(setup.reader, print: bytes) }) else {
      Issue.record("a damaged print was taken")
      return
    }
    await setup.keeper.stop()
  }

  @Test @GLibActor func `prints that are of no use are left out of an identification and named`() async throws {
    let setup = try await VirtualSetup()
    let good = try await setup.enroll(.whorl)
    // The last is read as a print, but of a kind that image readers do not have.
    let prints = [Array(good.dropLast(9)), good, try foreign(good), good.prefix(3) + [1] + good.dropFirst(4)]
    let order = Told<String>()
    async let found = setup.keeper.identify(
      setup.reader, prints: prints, unusable: { order.add("unusable \($0)") }, progress: { _ in order.add("retry") })
    await setup.fingerNeeded()
    #expect(order.values == ["unusable [0, 2, 3]"])
    try await setup.virtual.retry(.tooShort)
    try await setup.touch(.whorl, 6)
    #expect(try await found == 1)
    // The second wait is of the same prints.
    #expect(order.values == ["unusable [0, 2, 3]", "retry"])

    async let nobody = setup.keeper.identify(setup.reader, prints: prints)
    try await setup.touch(.arch)
    #expect(try await nobody == nil)
    await setup.keeper.stop()
  }

  @Test @GLibActor func `an identification without a good print fails and names each of them`() async throws {
    let setup = try await VirtualSetup()
    let good = try await setup.enroll(.whorl)
    let prints = [Array(good.dropLast(9)), [], try foreign(good)]
    let told = Told<[Int]>()
    let error = await failure {
      try await setup.keeper.identify(setup.reader, prints: prints, unusable: { told.add($0) })
    }
    guard case .dataInvalid = error else {
      Issue.record("\(String(describing: error)) is not about the prints")
      return
    }
    #expect(told.values == [[0, 1, 2]])
    await setup.keeper.stop()
  }

  @Test @GLibActor func `the verdict does not wait until the finger is lifted, the next check does`() async throws {
    let setup = try await VirtualSetup()
    let print = try await setup.enroll(.whorl)
    async let first = setup.keeper.verify(setup.reader, print: print)
    await setup.fingerNeeded()
    // The finger stays where it is.
    try await setup.virtual.send([
      .automaticFinger(false), .finger(present: true), .image(SyntheticFinger.whorl.press(6)),
    ])
    #expect(try await first)
    async let second = setup.keeper.verify(setup.reader, print: print)
    try await setup.virtual.send([.finger(present: false)])
    try await setup.touch(.arch)
    #expect(try await second == false)
    await setup.keeper.stop()
  }

  @Test @GLibActor func `no damage to a print's bytes ends the bridge`() async throws {
    let setup = try await VirtualSetup()
    let print = try await setup.enroll(.whorl)
    try await setup.keeper.close(setup.reader)
    let pid = setup.keeper.processID
    var random = SystemRandomNumberGenerator()
    for round in 0..<1500 {
      var bytes = print
      if round % 4 == 0 { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
      // The head and the tail hold what the form hangs on.
      let places = [3..<80, max(0, bytes.count - 80)..<bytes.count, 0..<bytes.count]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = places[round % 3].clamped(to: 0..<bytes.count)
        if let at = place.randomElement(using: &random) { bytes[at] = UInt8.random(in: 0...255, using: &random) }
      }
      // A print that is read gets as far as the closed reader.
      switch await failure({ try await setup.keeper.verify(setup.reader, print: bytes) }) {
      case .dataInvalid, .notOpen: continue
      case let other:
        Issue.record("\(String(describing: other)) over \(bytes)")
        return
      }
    }
    #expect(setup.keeper.processID == pid)
    await setup.keeper.stop()
  }

  @Test(.enabled(if: SharedMaterial.path("prints") != nil, "shared/prints is not here"))
  @GLibActor func `the three shared images enrol and are told apart`() async throws {
    let setup = try await VirtualSetup()
    let folder = try #require(SharedMaterial.path("prints"))
    let images = try ["whorl", "loop-right", "tented_arch"].map { try FingerImage(pgm: "\(folder)/\($0).pgm") }
    var prints: [[UInt8]] = []
    for image in images {
      async let print = setup.keeper.enroll(setup.reader, finger: nil, user: "") { _ in }
      for _ in 1...5 {
        await setup.fingerNeeded()
        try await setup.virtual.press(image)
      }
      prints.append(try await print)
    }
    for (index, image) in images.enumerated() {
      async let found = setup.keeper.identify(setup.reader, prints: prints)
      await setup.fingerNeeded()
      try await setup.virtual.press(image)
      #expect(try await found == index)
    }
    await setup.keeper.stop()
  }

  /// The same print under the name of a driver that is not this reader's.
  private func foreign(_ print: [UInt8]) throws -> [UInt8] {
    var data = Data(print)
    let name = try #require(data.range(of: Data("virtual_image".utf8)))
    data.replaceSubrange(name, with: Data("another_image".utf8))
    return Array(data)
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }
}
