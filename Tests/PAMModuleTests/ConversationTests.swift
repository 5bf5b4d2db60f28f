import Foundation
import TestKit
import Testing

extension ModuleSuite {
  /// What the person sees and what whorld is asked.
  @Suite struct ConversationTests {
    @Test func `every event has its own words, as information and never as an error`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps: [Step] = [
        .progress("queued"),
        .progress("waiting", ["scan-type": "press", "fingers": ["right-index-finger"], "reader": "A \u{1b}[2J"]),
        .progress("retry", ["reason": "too-short"]), .progress("no-match", ["tries-left": 2]),
        .progress("waiting", ["scan-type": "swipe", "fingers": ["left-thumb", "right-thumb"]]),
        .progress("matched", ["finger": "left-thumb"]), .progress("some-new-event"), .reply("left-thumb"),
      ]
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(
        lines == [
          "info Touch the fingerprint reader with your right index finger (whorl-test)",
          "info Too short: please try again, and leave the finger on the reader a little longer.",
          "info Fingerprint not recognised: 2 tries left.",
          "info Swipe your finger across the fingerprint reader (whorl-test)", "result 0",
        ])
    }

    @Test func `who stands in the queue for a while is told so`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps: [Step] = [.progress("queued"), .wait(milliseconds: 800), .progress("waiting"), .reply()]
      let lines = try await bench.withWhorld(steps) { try await bench.host() }
      #expect(
        lines == [
          "info Waiting for the fingerprint reader (whorl-test)", "info Touch the fingerprint reader (whorl-test)",
          "result 0",
        ])
    }

    @Test func `a lockout and the end of the time are told`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let locked = try await bench.withWhorld([.error("org.whorl.Error.BiometryLockout")]) { try await bench.host() }
      #expect(
        locked == ["info Fingerprints are locked after too many misses: please use your password.", "result 9"])
      let late = try await bench.withWhorld([.error("org.whorl.Error.TimedOut")]) { try await bench.host() }
      #expect(late == ["info No finger was seen in time.", "result 9"])
    }

    @Test func `who has no fingers enrolled sees nothing at all`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.error("org.whorl.Error.BiometryNotEnrolled")]) {
        try await bench.host()
      }
      #expect(lines == ["result 9"])
    }

    @Test(arguments: [
      ("timeout=7 max-tries=2", [String](), 7, 2), ("", [], 30, 3), ("timeout=7", ["--silent"], 5, 3),
      ("timeout=3", ["--silent"], 3, 3), ("timeout=7 always-prompt", ["--silent"], 7, 3),
      ("timeout=0 max-tries=9 timeout=1x bogus", [], 30, 3), ("trusted-readers timeout=7", [], 7, 3),
    ])
    func `whorld is told the user, the service and the limits`(
      options: String, flags: [String], timeout: Int, tries: Int
    ) async throws {
      let bench = try await Bench()
      try bench.writeService(options: options)
      let whorld = try await bench.startWhorld([.progress("waiting"), .reply()])
      let lines = try await bench.host(flags, user: "Jörg O'Neill")
      #expect(lines.last == "result 0")
      // Silence is silence, unless the administrator says otherwise.
      #expect((lines.count == 1) == (flags == ["--silent"] && !options.contains("always-prompt")))
      whorld.closeInput()
      let call = try await whorld.wait().text.split(separator: "\n").last.map { Data($0.utf8) }
      let asked = try JSONDecoder().decode(Asked.self, from: try #require(call))
      #expect(asked.user == "Jörg O'Neill")
      #expect(asked.service == "whorl-test")
      #expect(asked.options["timeout"] == UInt64(timeout))
      #expect(asked.options["max-tries"] == UInt64(tries))
      let demandsTrust = options.contains("trusted-readers")
      #expect(
        asked.options.keys.sorted()
          == ["max-tries", "operation", "timeout"] + (demandsTrust ? ["trusted-readers"] : []))
      #expect(asked.options["trusted-readers"] == (demandsTrust ? 1 : nil))
    }

    private struct Asked: Decodable {
      let user: String
      let service: String
      let options: [String: UInt64]
    }

    @Test(arguments: [
      ("null", ["result 19"]), ("error", ["info Touch the fingerprint reader (whorl-test)", "result 19"]),
      ("no-response", ["info Touch the fingerprint reader (whorl-test)", "result 0"]),
      ("text", ["info Touch the fingerprint reader (whorl-test)", "result 0"]),
    ])
    func `a conversation that fails ends the wait, one that answers oddly does no harm`(
      kind: String, expected: [String]
    ) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.progress("waiting"), .reply()]) {
        try await bench.host(["--conv=\(kind)"])
      }
      #expect(lines == expected)
    }

    @Test func `the name is asked for where the program gave none`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.reply()]) { try await bench.host(user: nil) }
      #expect(lines == ["other 2 login:", "result 0"])
      let refused = try await bench.withWhorld([.reply()]) { try await bench.host(["--conv=error"], user: nil) }
      #expect(refused == ["other 2 login:", "result 19"])
    }

    @Test(arguments: [
      "''", "\"$(printf %300s x | tr ' ' x)\"", "\"$(printf 'a\\377b')\"", "\"$(printf 'a\\nb')\"",
      "\"$(printf 'a\\033[2Jb')\"", "\"$(printf '\\355\\240\\200')\"", "\"$(printf '\\300\\257')\"",
    ])
    func `a name that can be nobody's is refused before whorld hears of it`(word: String) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let host = try await bench.buildHost()
      let whorld = try await bench.startWhorld([.reply()])
      // The shell makes what no Swift string can hold.
      let ended = try await RunningProgram.run(
        "/bin/sh", ["-c", "exec \(host) \(bench.folder("pam.d")) whorl-test \(word)"], environment: bench.environment)
      #expect(ended.text == "result 10\n")
      whorld.closeInput()
      #expect(try await whorld.wait().text == "ready\n")
    }

    @Test(arguments: [
      ("example.org", 9), ("192.0.2.7", 9), ("127.0.0.1", 9), ("::1", 9), ("localhost.", 9), ("localhost", 0), ("", 0),
    ])
    func `a remote session is not asked for a finger`(remote: String, code: Int) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.progress("waiting"), .reply()]) {
        try await bench.host(["--rhost=\(remote)"])
      }
      #expect(lines.last == "result \(code)")
      #expect(lines.count == (code == 0 ? 2 : 1))
    }
  }
}
