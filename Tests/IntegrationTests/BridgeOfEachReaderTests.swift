import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// No process that serves one reader ever serves another, nor one that something else may have taken over.
@Suite(.timeLimit(.minutes(5))) struct BridgeOfEachReaderTests {
  /// What a process was started with.
  private static func environment(of pid: pid_t) throws -> [String] {
    try String(decoding: Bytes.read("/proc/\(pid)/environ"), as: UTF8.self).split(separator: "\0").map(String.init)
  }

  private static func arguments(of pid: pid_t) throws -> [String] {
    try String(decoding: Bytes.read("/proc/\(pid)/cmdline"), as: UTF8.self).split(separator: "\0").map(String.init)
  }

  /// What the descriptors of a process lead to.
  private static func descriptors(of pid: pid_t) -> [String] {
    let folder = "/proc/\(pid)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = buffer.withUnsafeMutableBytes { space in
        space.baseAddress.map { readlink("\(folder)/\(name)", $0, space.count) } ?? -1
      }
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }

  /// Which of the processes has a virtual reader open: it listens on the reader's socket.
  private static func holders(of socket: String, among pids: [pid_t]) throws -> [pid_t] {
    var sockets: Set<String> = []
    // The kernel gives it piece by piece, whatever size it says.
    let list = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/unix"))
    var bytes: [UInt8] = []
    while let piece = try list.read(upToCount: 4096), !piece.isEmpty { bytes += piece }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(whereSeparator: \.isWhitespace)
      // The number of the socket, then its path.
      if fields.count == 8, String(fields[7]) == socket { sockets.insert("socket:[\(fields[6])]") }
    }
    return pids.filter { pid in descriptors(of: pid).contains { sockets.contains($0) } }
  }

  /// A world with a trusted image reader and a reader of another driver beside it.
  private struct Pair {
    let world: World
    let daemon: RunningProgram
    let stranger: VirtualDevice
    /// The number of the image reader, and of the other.
    let numbers: (image: Int, other: Int)

    init() async throws {
      world = try await World()
      stranger = VirtualDevice(socket: world.folder("stranger"))
      let drivers = "virtual_image:virtual_device_storage"
      daemon = try await world.startDaemon(adding: [
        "FP_VIRTUAL_DEVICE_STORAGE": stranger.socket, "FP_DRIVERS_WHITELIST": drivers, "FP_DRIVERS_ALLOWLIST": drivers,
      ])
      let first = try await FprintClient(world, reader: 0)
      numbers = try await first.ask("name").contains("storage") ? (1, 0) : (0, 1)
      // The command takes the first reader.
      try #require(numbers.image == 0, "the order of libfprint's drivers has changed")
    }

    /// The processes that have each of the readers open now, each of which is a narrowed one and serves no other.
    func expectApart(image: Bool, other: Bool, _ location: SourceLocation = #_sourceLocation) throws {
      let all = try world.bridges(of: daemon)
      let images = try BridgeOfEachReaderTests.holders(of: world.folder("finger"), among: all)
      let others = try BridgeOfEachReaderTests.holders(of: stranger.socket, among: all)
      #expect(images.count == (image ? 1 : 0), sourceLocation: location)
      #expect(others.count == (other ? 1 : 0), sourceLocation: location)
      #expect(Set(images).isDisjoint(with: others), sourceLocation: location)
      for (pids, driver, foreign) in [
        (images, "virtual_image", "STORAGE"), (others, "virtual_device_storage", "FP_VIRTUAL_IMAGE"),
      ] {
        for pid in pids {
          let environment = try BridgeOfEachReaderTests.environment(of: pid)
          #expect(environment.contains("FP_DRIVERS_ALLOWLIST=\(driver)"), sourceLocation: location)
          #expect(!environment.contains { $0.contains(foreign) }, sourceLocation: location)
          #expect(try BridgeOfEachReaderTests.arguments(of: pid).contains("--only"), sourceLocation: location)
        }
      }
    }

    func finish(_ client: FprintClient, _ press: () async throws -> Void) async throws {
      var touches = 0
      while !client.program.text().contains(" done") {
        try #require(touches < 8, "\(client.program.text())")
        touches += 1
        let seen = client.position
        try await press()
        try await client.waitFor("status", after: seen)
      }
    }
  }

  @Test func `Enrolments, logins and secrets on one reader run where no other was opened, and the other way round`()
    async throws
  {
    let pair = try await Pair()
    let world = pair.world
    try pair.expectApart(image: false, other: false)

    let stranger = try await FprintClient(world, reader: pair.numbers.other)
    try await stranger.ask("claim")
    try pair.expectApart(image: false, other: true)
    let own = try await FprintClient(world, reader: pair.numbers.image)
    try await own.ask("claim")
    try pair.expectApart(image: true, other: true)
    try await stranger.ask("enroll left-index-finger")
    try await pair.finish(stranger) { try await pair.stranger.scan("mine") }
    try await stranger.ask("enrollstop")
    try await own.ask("release")
    try pair.expectApart(image: false, other: true)

    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    // The one that is not trusted stays claimed all the while.
    let get = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(get, after: 0)
    try pair.expectApart(image: true, other: true)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    #expect(try await get.wait().text == "a")

    let verify = try world.start(["verify"])
    _ = try await world.nextPrompt(verify, after: 0)
    try pair.expectApart(image: true, other: true)
    try await world.reader.press(SyntheticFinger.leftLoop.press(4))
    #expect(try await verify.wait().status == 0)
    try await stranger.ask("release")
    try pair.expectApart(image: false, other: false)

    // A login may use either.
    let client = try await Client(world)
    for (onStranger, finger) in [(true, "left-index-finger"), (false, "right-index-finger")] {
      let probe = try await FprintClient(world, reader: pair.numbers.image)
      let seen = probe.position
      let login = Task {
        try await client.call("Authentication1", "Authenticate", [.string("root"), .string("test"), .options([:])])
      }
      try await probe.waitFor("needed True", after: seen)
      if onStranger {
        try await pair.stranger.scan("mine")
      } else {
        try await world.reader.press(SyntheticFinger.leftLoop.press(5))
      }
      #expect(try await login.value.arguments == [.string(finger)])
    }
  }

  @Test func `The death of one reader's process costs the other's claim and verification nothing`() async throws {
    let pair = try await Pair()
    let world = pair.world
    try await world.enroll(.leftLoop, adopting: false)
    let stranger = try await FprintClient(world, reader: pair.numbers.other)
    try await stranger.ask("claim")
    let own = try await FprintClient(world, reader: pair.numbers.image)
    try await own.ask("claim")
    try await own.ask("verify")
    try await own.waitFor("needed True", after: 0)
    let all = try world.bridges(of: pair.daemon)
    let theirs = try Self.holders(of: pair.stranger.socket, among: all)
    let ours = try Self.holders(of: world.folder("finger"), among: all)
    #expect(theirs.count == 1 && ours.count == 1)
    // That of the other reader, and the one that only tells what readers there are.
    for pid in all where !ours.contains(pid) { kill(pid, SIGKILL) }
    // Who asks for the readers meanwhile has no new process look at them.
    #expect(try await own.ask("devices").hasPrefix("ok devices 2"))
    #expect(!own.program.text().contains("done"))
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await own.waitFor("status verify-match done", after: 0)
    try await own.ask("stop")
    // The other's claim has not gone either.
    try await stranger.ask("enroll left-index-finger")
    try await pair.finish(stranger) { try await pair.stranger.scan("mine") }
    try await stranger.ask("enrollstop")
    try pair.expectApart(image: true, other: true)
    try await own.ask("release")
    try await stranger.ask("release")
    try pair.expectApart(image: false, other: false)
    #expect(try await own.ask("devices").hasPrefix("ok devices 2"))
  }

  // MARK: - By the kernel's word

  /// whorld on an emulated bus, where readers that libfprint does not list may come and go.
  private static func plugged(_ world: World, _ board: PlugBoard, drivers: String) async throws -> RunningProgram {
    try await world.startDaemon(
      adding: board.environment.merging(["FP_DRIVERS_WHITELIST": drivers, "FP_DRIVERS_ALLOWLIST": drivers]) { $1 })
  }

  @Test(.enabled(if: PlugBoard.isAvailable, "umockdev is not installed"))
  func `A process that a device came to which libfprint does not list serves no secret any more`() async throws {
    let world = try await World()
    let board = try await PlugBoard()
    let daemon = try await Self.plugged(world, board, drivers: "virtual_image")
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)]).text == "a")
    let first = try world.bridges(of: daemon)
    #expect(first.count == 1, "alone, one process does everything")

    // It comes, and is gone again before anybody asks.
    try await board.plug(.synaptics, port: 3, address: 5)
    try await board.unplug(port: 3)
    let get = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(get, after: 0)
    let second = try Self.holders(of: world.folder("finger"), among: try world.bridges(of: daemon))
    #expect(second.count == 1)
    #expect(Set(second).isDisjoint(with: first))
    #expect(try second.allSatisfy { try Self.arguments(of: $0).contains("--only") })
    try await world.reader.press(SyntheticFinger.leftLoop.press(4))
    #expect(try await get.wait().text == "a")
  }

  @Test(.enabled(if: PlugBoard.isAvailable, "umockdev is not installed"))
  func `What a process says after a device came to it does not count, and the touch is asked for again`() async throws {
    let world = try await World()
    let board = try await PlugBoard()
    let daemon = try await Self.plugged(world, board, drivers: "virtual_image")
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let verify = try world.start(["verify"])
    _ = try await world.nextPrompt(verify, after: 0)
    let third = try Self.holders(of: world.folder("finger"), among: try world.bridges(of: daemon))
    #expect(try third.count == 1 && third.allSatisfy { try !Self.arguments(of: $0).contains("--only") })
    try await board.plug(.synaptics, port: 3, address: 6)
    try await world.reader.press(SyntheticFinger.leftLoop.press(5))
    try await world.reader.press(SyntheticFinger.leftLoop.press(6))
    #expect(try await verify.wait().status == 0)
    let last = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(last, after: 0)
    let narrowed = try Self.holders(of: world.folder("finger"), among: try world.bridges(of: daemon))
    #expect(try narrowed.count == 1 && narrowed.allSatisfy { try Self.arguments(of: $0).contains("--only") })
    #expect(Set(narrowed).isDisjoint(with: third))
    try await world.reader.press(SyntheticFinger.leftLoop.press(7))
    #expect(try await last.wait().text == "a")
  }

  @Test(.enabled(if: PlugBoard.isAvailable, "umockdev is not installed"))
  func `A claimed reader moves to a process of its own when another is plugged in, and keeps its claim`() async throws {
    let world = try await World()
    let board = try await PlugBoard()
    try await board.plug(.aes2501, port: 2, address: 5)
    let daemon = try await Self.plugged(world, board, drivers: "aes2501:synaptics")
    let probe = try await FprintProbe(world)
    #expect(try await probe.error("Claim", "") == nil)
    let first = try world.bridges(of: daemon)
    #expect(first.count == 1)

    try await board.plug(.synaptics, port: 4, address: 7)
    // Its end is told by the kernel.
    while first.contains(where: { kill($0, 0) == 0 }) { _ = try await probe.devices() }
    #expect(try await probe.devices().contains(probe.path))
    #expect(try await probe.error("Claim", "") == "AlreadyInUse", "the claim is still there")
    // Whatever is done next is done in a process that can open that reader alone.
    _ = try await probe.error("EnrollStart", "left-thumb")
    let narrowed = try world.bridges(of: daemon).filter { try Self.arguments(of: $0).contains("--only") }
    #expect(narrowed.count == 1)
    for pid in narrowed {
      #expect(try Self.arguments(of: pid).suffix(2) == ["--only", "/dev/bus/usb/001/005"])
      #expect(try Self.environment(of: pid).contains("FP_DRIVERS_ALLOWLIST=aes2501"))
      #expect(!Self.descriptors(of: pid).contains { $0.hasSuffix("/dev/bus/usb/001/007") })
    }
    _ = try await probe.error("EnrollStop")
    #expect(try await probe.error("Release") == nil)
  }
}
