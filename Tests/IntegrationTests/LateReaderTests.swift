import Bus
import Foundation
import TestKit
import Testing

/// Logins in the first moments of whorld, before its reader is there.
@Suite(.timeLimit(.minutes(3))) struct LateReaderTests {
  /// A world in which a finger is enrolled and whorld is about to start anew, with a reader that comes when it is told to.
  private struct Setting {
    let world: World
    let programs: TemporaryFolder

    /// - Parameter patience: for how many seconds the reader is waited for; nil: as usual.
    init(isSlow: Bool, patience: Int? = 60) async throws {
      world = try await World()
      programs = try TemporaryFolder(open: true)
      for name in ["whorld", "whorl-passcode"] {
        try ProgramFile.copy(BuiltPrograms.path(name), to: programs(name))
      }
      try ProgramFile.copy(
        SourceTree.path("Tests/IntegrationTests/Scripts/late-bridge.py"), to: programs("whorl-reader"))
      try programs.write(BuiltPrograms.path("whorl-reader"), to: "real")
      let first = try await world.startDaemon(programs("whorld"))
      try await world.enroll(.leftLoop, adopting: false)
      first.signal(15)
      _ = try await first.wait()
      guard mkfifo(programs("arrival"), 0o600) == 0 else { throw WorldError("no pipe") }
      if isSlow { try programs.write("", to: "slow") }
      try await world.startDaemon(
        programs("whorld"), adding: patience.map { ["WHORL_READER_PATIENCE": "\($0)"] } ?? [:])
    }

    /// The reader is plugged in, or told at last.
    func bring() throws {
      let pipe = try FileHandle(forWritingTo: URL(fileURLWithPath: programs("arrival")))
      try pipe.write(contentsOf: Data("come".utf8))
      try pipe.close()
    }
  }

  @Test(arguments: [false, true])
  func `A login that comes before its reader has its touch accepted`(isSlow: Bool) async throws {
    let setting = try await Setting(isSlow: isSlow)
    let world = setting.world
    let client = try await Client(world)
    // Where the bridge answers, the first look for readers has ended and found none; and the keychain is open.
    if !isSlow { try await expectNoReader(client) }
    let operation: UInt64 = 17
    let queued = AsyncStream<String>.makeStream()
    let subscription = try await client.bus.subscribe(
      sender: "org.whorl", path: "/org/whorl", interface: "org.whorl.Authentication1", member: "Progress"
    ) { signal in
      guard signal.arguments.first == .uint64(operation), let event = signal.arguments[1].asString else { return }
      queued.continuation.yield(event)
    }
    let login = Task {
      defer { queued.continuation.finish() }
      return try await client.call(
        "Authentication1", "Authenticate",
        [.string("root"), .string("test"), .options(["operation": .uint64(operation), "timeout": .uint32(60)])])
    }
    var events = queued.stream.makeAsyncIterator()
    // It has the request, and no reader.
    #expect(await events.next() == "queued")
    // Who does not wait has been refused when this is answered.
    if !isSlow { try await expectNoReader(client) }
    try setting.bring()
    var last: String?
    while last != "waiting", let event = await events.next() { last = event }
    try #require(last == "waiting")
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    #expect(try await login.value.arguments == [.string("right-index-finger")])
    withExtendedLifetime(subscription) {}
  }

  private func expectNoReader(_ client: Client) async throws {
    let status = try await client.call("Authentication1", "GetStatus")
    #expect(status.arguments[0].asOptions?["biometry"]?.unwrapped == .string("no-reader"))
  }

  @Test func `Where it does not come, the stack goes on to the password`() async throws {
    let setting = try await Setting(isSlow: false, patience: nil)
    let client = try await Client(setting.world)
    let error = try await client.error(
      "Authentication1", "Authenticate", [.string("root"), .string("test"), .options([:])])
    #expect(error == "org.whorl.Error.BiometryNotAvailable")
    let status = try await setting.world.whorl(["status"])
    #expect(status.text.contains("test asked for no finger the last time: no fingerprint reader"), "\(status.text)")
  }
}
