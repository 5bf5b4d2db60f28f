import Foundation
import TestKit
import Testing

extension ModuleSuite {
  /// Daemons, buses and bystanders that mean harm or are broken.
  @Suite struct HostileTests {
    @Test(arguments: [
      [Step.rawReply("")], [.rawReply("u", 1)], [.rawReply("b", true)], [.rawReply("ss", "right-thumb", "right-thumb")],
      [.rawReply("as", ["right-thumb"])], [.rawReply("v", "right-thumb")], [.reply("")], [.reply("elbow")],
      [.reply("right-thumb\u{1b}[2J")], [.reply(String(repeating: "x", count: 100_000))],
      [.error("org.whorl.Error.Match"), .reply()],
    ])
    func `an answer that is not exactly a finger's name is no match`(steps: [Step]) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(lines == ["result 9"])
    }

    @Test func `progress of other types, operations or kinds is left out`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps: [Step] = [
        .rawProgress("s", "waiting"), .rawProgress("tsa{ss}", "OP", "waiting", ["scan-type": "swipe"]),
        .rawProgress("usa{sv}", 1, "waiting", [String: String]()),
        .rawProgress("tsa{sv}", 1, "waiting", [String: String]()),
        .rawProgress("tsa{sv}s", "OP", "waiting", [String: String](), "more"),
        .progress("waiting", ["scan-type": 7, "fingers": "right-thumb", "nonsense": ["deep", "list"]]),
        .progress("retry", ["reason": "a reason of tomorrow"]), .progress("no-match", ["tries-left": "many"]),
        .progress("no-match", ["tries-left": 4_000_000_000]), .reply(),
      ]
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(
        lines == [
          "info Touch the fingerprint reader (whorl-test)",
          "info The touch could not be read: please try again.",
          "info Fingerprint not recognised: please try again.",
          "info Fingerprint not recognised: please try again.", "result 0",
        ])
    }

    @Test func `a bystander's signals and replies count for nothing`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps: [Step] = [
        .impostor("waiting"), .impostorReply("right-thumb"), .flood(500), .wait(milliseconds: 200),
        .error("org.whorl.Error.AuthenticationFailed"),
      ]
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(lines == ["result 7"])
    }

    @Test(arguments: ["login", "login keyring"])
    func `a program that may write no files is not ended by the step after the password`(options: String) async throws {
      let bench = try await Bench()
      try bench.folder.write(
        "auth required pam_exec.so expose_authtok quiet /bin/true\nauth optional \(bench.module) \(options)\n",
        to: "pam.d/whorl-test")
      let lines = try await bench.withWhorld([.error("org.whorl.Error.Failed")]) {
        try await bench.host(["--tiny-files", "--repeat=2", "--alone"])
      }
      #expect(lines == ["other 1 Password: ", "result 0", "other 1 Password: "])
    }

    @Test func `a bystander's flood does not prolong a silent daemon's time`() async throws {
      let bench = try await Bench()
      try bench.writeService(options: "timeout=300")
      let lines = try await bench.withWhorld([.flood(20_000)]) { try await bench.host() }
      #expect(lines == ["result 9"])
    }

    @Test func `whorld's own flood fills no screen`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps = Array(repeating: Step.progress("retry"), count: 1000) + [.reply()]
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(lines.count == 65)
      #expect(lines.last == "result 0")
    }

    @Test(arguments: [[], [Step.progress("waiting")], [.progress("queued")]])
    func `a daemon that falls silent is left in bounded time`(steps: [Step]) async throws {
      let bench = try await Bench()
      try bench.writeService(options: "timeout=1")
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(lines.last == "result 9")
    }

    @Test func `a daemon that never shows a sign of life is left although the user's time is long`() async throws {
      let bench = try await Bench()
      try bench.writeService(options: "timeout=300")
      let lines = try await bench.withWhorld([]) { try await bench.host() }
      #expect(lines == ["result 9"])
    }

    @Test(arguments: ["silent", "mute", "garbage", "close", "half", "half-frame"])
    func `a bus that is none is left in bounded time and leaves nothing behind`(behaviour: String) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let path = bench.folder("bad-bus")
      let bus = try RunningProgram(
        "/usr/bin/python3", [Bench.tool("bad_bus.py"), path, behaviour], environment: Bench.plainEnvironment)
      try await bus.waitFor("ready\n")
      let environment = Bench.plainEnvironment.merging(["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"]) { $1 }
      // pam_host also compares descriptors, threads, signals and environment.
      #expect(try await bench.host(environment: environment) == ["result 9"])
      bus.closeInput()
      _ = try await bus.wait()
    }

    @Test func `whorld is started by the bus where it does not run`() async throws {
      let bench = try await Bench(activatable: [.progress("waiting"), .reply()])
      try bench.writeService()
      let lines = try await bench.host()
      #expect(lines == ["info Touch the fingerprint reader (whorl-test)", "result 0"])
    }

    @Test func `a daemon of another user is not believed`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.progress("waiting"), .reply()], user: 1) { try await bench.host() }
      #expect(lines == ["result 9"])
      let own = try await bench.withWhorld([.progress("waiting"), .reply()], user: 1) {
        try await bench.host(runAs: 1)
      }
      #expect(own == ["info Touch the fingerprint reader (whorl-test)", "result 0"])
      let roots = try await bench.withWhorld([.progress("waiting"), .reply()]) { try await bench.host(runAs: 1) }
      #expect(roots == ["info Touch the fingerprint reader (whorl-test)", "result 0"])
      let others = try await bench.withWhorld([.progress("waiting"), .reply()], user: 2) {
        try await bench.host(runAs: 1)
      }
      #expect(others == ["result 9"])
    }

    /// In a mount namespace of its own, where /run/dbus/system_bus_socket is a second private bus: a set-user-ID
    /// program that nobody starts with the first bus in its environment must speak to the second alone, and believe
    /// a daemon of its caller's no more than anyone else's.
    @Test func `a set-user-ID program takes neither a bus nor a daemon from its caller`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let host = try await bench.buildHost()
      let trap = try await bench.startWhorld([.reply()])
      let ended = try await RunningProgram.run(
        "/usr/bin/unshare",
        ["--mount", "--propagation", "private", Bench.tool("set_user_id.sh"), bench.folder.path, host],
        environment: bench.environment)
      #expect(ended.status == 0, "\(ended.errorText)")
      // The first bus's daemon, the trap, says yes; the second bus's says no as root and yes as nobody.
      #expect(
        ended.text.split(separator: "\n") == [
          "root's daemon, ordinary: result 0", "root's daemon, set-user-ID: result 7",
          "nobody's daemon, ordinary: result 0", "nobody's daemon, set-user-ID: result 9",
        ])
      trap.closeInput()
      #expect(try await trap.wait().text.split(separator: "\n").count == 2)
    }
  }
}
