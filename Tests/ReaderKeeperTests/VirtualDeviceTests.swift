import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// libfprint's text-driven virtual reader with storage of its own, through the real whorl-reader.
@Suite(.timeLimit(.minutes(5))) struct VirtualDeviceTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `a reader's own storage is listed, matched and deleted from`() async throws {
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE_STORAGE", driver: "virtual_device_storage")
    let (keeper, reader) = (setup.keeper, setup.reader)
    let left = try await setup.enroll("left", finger: .leftIndex)
    let right = try await setup.enroll("right", finger: .rightIndex)
    #expect(try await keeper.listPrints(reader).count == 2)

    try await setup.device.scan("right")
    #expect(try await keeper.identify(reader, prints: [left, right]) == 1)

    try await keeper.deletePrint(reader, print: left)
    #expect(try await keeper.listPrints(reader).count == 1)
    guard case .dataNotFound = await failure({ try await keeper.deletePrint(reader, print: left) }) else {
      Issue.record("a print was deleted twice")
      return
    }
    // Clearing is tested with the recording of a synaptics reader: this one never gets done with it.
    await keeper.stop()
  }

  @Test @GLibActor func `the prints of a chip are told apart from those on the disk by libfprint itself`() async throws
  {
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE_STORAGE", driver: "virtual_device_storage")
    let (keeper, reader) = (setup.keeper, setup.reader)
    let left = try await setup.enroll("left", finger: .leftIndex)
    let right = try await setup.enroll("right", finger: .rightIndex)
    try await keeper.deletePrint(reader, print: left)
    try await setup.device.command("INSERT stranger")

    let stored = try await keeper.storedPrints(reader, known: [left, Array(right.dropLast(4)), right])
    #expect(stored.count == 2)
    let ours = try #require(stored.first { $0.knownIndex != nil })
    let other = try #require(stored.first { $0.knownIndex == nil })
    #expect(ours.knownIndex == 2)
    #expect(ours.driver == "virtual_device_storage")
    #expect(ours.deviceID == reader.deviceID)
    // What was listed is good for deleting it.
    try await keeper.deletePrint(reader, print: other.bytes)
    #expect(try await keeper.storedPrints(reader, known: [left, right]).map(\.knownIndex) == [1])
    await keeper.stop()
  }

  @Test @GLibActor func `a print of another reader is refused by name`() async throws {
    let image = try await VirtualSetup()
    let print = try await image.enroll(.whorl)
    await image.keeper.stop()
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE", driver: "virtual_device")
    guard case .dataInvalid(let text) = await failure({ try await setup.keeper.verify(setup.reader, print: print) })
    else {
      Issue.record("another reader's print was taken")
      return
    }
    #expect(text.contains("another reader"))
    await setup.keeper.stop()
  }

  @Test @GLibActor
  func `a driver that does not cancel is replaced, and the one who cancelled waits no longer than that`()
    async throws
  {
    var limits = ReaderKeeper.Limits.patient
    limits.cancel = 1000
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE", driver: "virtual_device", limits: limits)
    let (keeper, reader) = (setup.keeper, setup.reader)
    let print = try await setup.enroll("one", finger: nil)
    try await setup.device.command("SET_CANCELLATION_ENABLED 0")
    let reasons = Told<String>()
    keeper.onBridgeFailed = { reasons.add($0) }
    let check = Task { try await keeper.verify(reader, print: print) }
    await setup.fingerNeeded()
    check.cancel()
    #expect(await failure { try await check.value } == .cancelled)
    #expect(reasons.values == ["it did not cancel in time"])
    try await keeper.open(reader)
    try await setup.device.scan("one")
    #expect(try await keeper.verify(reader, print: print))
    await keeper.stop()
  }

  @Test @GLibActor func `a driver that sleeps does not hold up the end of its bridge`() async throws {
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE", driver: "virtual_device")
    let pid = try #require(setup.keeper.processID)
    let print = try await setup.enroll("one", finger: nil)
    try await setup.device.command("SET_CANCELLATION_ENABLED 0")
    try await setup.device.command("SLEEP 600000")
    async let failed = failure { try await setup.keeper.verify(setup.reader, print: print) }
    await setup.fingerNeeded()
    await setup.keeper.stop(milliseconds: 300)
    #expect(kill(pid, 0) == -1)
    guard case .bridgeFailed = await failed else {
      Issue.record("the verification went on")
      return
    }
  }

  @Test(arguments: ["enroll", "verify", "identify"])
  @GLibActor func `a reader that is unplugged in the middle ends the request once and can be had again`(_ what: String)
    async throws
  {
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE_STORAGE", driver: "virtual_device_storage")
    let (keeper, reader) = (setup.keeper, setup.reader)
    let print = try await setup.enroll("one", finger: nil)
    var changes = keeper.events().makeAsyncIterator()
    async let failed = failure {
      switch what {
      case "enroll": _ = try await keeper.enroll(reader, finger: nil, user: "") { _ in }
      case "verify": _ = try await keeper.verify(reader, print: print)
      default: _ = try await keeper.identify(reader, prints: [print])
      }
    }
    await setup.fingerNeeded()
    try await setup.device.command("UNPLUG")
    guard case .removed = await failed else {
      Issue.record("the request went on")
      return
    }
    #expect(await changes.next(isolation: GLibActor.shared)?.went == [reader])
    #expect(try await keeper.readers() == [])
    // A virtual reader comes back with its bridge alone.
    await keeper.stop()
    try await keeper.open(reader)
    try await setup.device.scan("one")
    await keeper.stop()
  }

  @Test @GLibActor func `an unplugged reader ends what runs on it and leaves the list`() async throws {
    let setup = try await DeviceSetup("FP_VIRTUAL_DEVICE", driver: "virtual_device")
    let (changes, sink) = AsyncStream<[ReaderDescription]>.makeStream()
    setup.keeper.onReadersChanged = { sink.yield($0) }
    let print = try await setup.enroll("one", finger: nil)
    async let failed = failure { try await setup.keeper.verify(setup.reader, print: print) }
    await setup.fingerNeeded()
    try await setup.device.command("UNPLUG")
    guard case .removed = await failed else {
      Issue.record("the verification went on")
      return
    }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next(isolation: GLibActor.shared) == [])
    #expect(await failure { try await setup.keeper.open(setup.reader) } == .noSuchReader)
    await setup.keeper.stop()
  }
}

/// A keeper whose bridge finds one text-driven reader.
@GLibActor
private final class DeviceSetup {
  let keeper: ReaderKeeper
  let device: VirtualDevice
  let reader: ReaderID
  private let folder: TemporaryFolder
  private let needed: AsyncStream<Bool>

  init(_ variable: String, driver: String, limits: ReaderKeeper.Limits = .patient) async throws {
    folder = try TemporaryFolder()
    device = VirtualDevice(socket: folder("device"))
    keeper = ReaderKeeper(
      program: try BuiltPrograms.path("whorl-reader"), arguments: ["--private"],
      environment: [variable: folder("device"), "FP_DRIVERS_WHITELIST": driver], limits: limits)
    reader = try #require(ReaderID.ids(of: try await keeper.readers()).first)
    let (needed, sink) = AsyncStream<Bool>.makeStream()
    self.needed = needed
    keeper.onFingerStatus = { _, needed, _ in sink.yield(needed) }
    try await keeper.open(reader)
  }

  func fingerNeeded() async {
    var iterator = needed.makeAsyncIterator()
    while let needed = await iterator.next(isolation: GLibActor.shared), !needed {}
  }

  /// Enrols with as many scans as the reader has stages. They are sent before, for the reader waits only half a second
  /// for a scan, and keeps those that come early.
  func enroll(_ name: String, finger: Finger?) async throws -> [UInt8] {
    for _ in 0..<(try await keeper.readers()[0].enrollStages) { try await device.scan(name) }
    return try await keeper.enroll(reader, finger: finger, user: name) { _ in }
  }
}
